import {arch, availableParallelism, cpus, platform, totalmem} from 'node:os';

/** What has to be known of a machine to read its figures. No name of it and no path on it. */
export function machineFacts() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    node: process.version,
  };
}
