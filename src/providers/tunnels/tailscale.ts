import { type TunnelProvider, tunnelOrigin } from './tunnel.js';

const ADDRESS = /^(https:\/\/[a-z0-9.-]+\.ts\.net(?::\d+)?)\/?$/;

/**
 * Funnel in the foreground ends with the process. If Funnel is not allowed yet, the program prints a
 * page that allows it and waits; otherwise it prints `Available on the internet:` and the address.
 */
export const tailscale: TunnelProvider = {
  program: 'tailscale',
  version: ['version'],
  addressHeader: 'x-forwarded-for',
  args: (run) => ['funnel', '--yes', tunnelOrigin(run)],
  env: () => ({}),
  hear: (line) => {
    const url = ADDRESS.exec(line.trim())?.[1];
    return { ...(url && { isUp: true, url }), line: line };
  },
};
