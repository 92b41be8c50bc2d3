import { type TunnelProvider, type TunnelRun, tunnelOrigin } from './tunnel.js';

const QUICK = /https:\/\/[a-z0-9-]+\.trycloudflare\.com/;
const UP = /Registered tunnel connection|Connection [0-9a-f-]{36} registered/;

/** Temporary host names: every start gets a new one. */
export const TEMPORARY = /(^|\.)trycloudflare\.com$/;

/**
 * A named tunnel uses a token, or a name from `cloudflared tunnel create`. A quick tunnel gets a
 * temporary name. The log goes to stderr, one line per event: time, level, message, fields. A tunnel is
 * up with its first registered connection.
 */
export const cloudflared: TunnelProvider = {
  program: 'cloudflared',
  version: ['--version'],
  addressHeader: 'cf-connecting-ip',
  args: (run) => ['tunnel', '--no-autoupdate', ...way(run)],
  env: ({ token }) => ({ ...(token !== null && { TUNNEL_TOKEN: token }) }),
  hear: (line) => {
    const url = QUICK.exec(line)?.[0];
    return { ...(UP.test(line) && { isUp: true }), ...(url && { url }), line: line };
  },
};

/** With a token, the dashboard defines the destination: it must be http://localhost:<port>. */
const way = (run: TunnelRun): string[] => {
  if (run.token !== null) return ['run'];
  const { name } = run.settings;
  if (name !== undefined) return ['run', '--url', tunnelOrigin(run), '--', name];
  // The default configuration may be that of another tunnel, which would prevent a quick tunnel.
  return ['--config', '/dev/null', '--url', tunnelOrigin(run)];
};
