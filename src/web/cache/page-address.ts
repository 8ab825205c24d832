/**
 * The address of a page in the cache. Canonical URLs have no fragment, so what is kept for other terms than those
 * of the SRD (ruling R3) is no page of `web_fetch`.
 */
export function pageAddress(url: string, variant: string): string {
  return variant === '' ? url : `${url}#${variant}`;
}
