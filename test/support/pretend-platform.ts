import {onTestFinished} from 'vitest';

/** Until the end of the test, what asks for the platform is told this one. */
export function pretendPlatform(platform: NodeJS.Platform): void {
  const own = process.platform;
  Object.defineProperty(process, 'platform', {value: platform});
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', {value: own});
  });
}
