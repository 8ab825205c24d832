/** Where the workspace is for a command in Docker and bubblewrap, and so what its output calls it. */
export const WORKSPACE_MOUNT = '/workspace';
