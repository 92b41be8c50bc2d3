import { type TunnelProvider, type TunnelRun, tunnelOrigin } from './tunnel.js';

const QUICK = /https:\/\/[a-z0-9-]+\.trycloudflare\.com/;
const UP = /Registered tunnel connection|Connection [0-9a-f-]{36} registered/;

/** Names that end here are given out anew at every start. */
export const TEMPORARY = /(^|\.)trycloudflare\.com$/;

/**
 * Cloudflare's connector: named, by a token or by a name that `cloudflared tunnel create` made; else
 * a quick tunnel under a name that ends with the process. Its log goes to stderr, one line per
 * event: time, level, message, fields. A tunnel is up with its first registered connection.
 */
export const cloudflared: TunnelProvider = {
  program: 'cloudflared',
  version: ['--version'],
  addressHeader: 'cf-connecting-ip',
  args: (run) => ['tunnel', '--no-autoupdate', ...way(run)],
  env: ({ token }) => ({ ...(token !== null && { TUNNEL_TOKEN: token }) }),
  hear: (line) => {
    const url = QUICK.exec(line)?.[0];
    return { ...(UP.test(line) && { isUp: true }), ...(url && { url }), said: line };
  },
};

/** With a token the dashboard says where the tunnel leads: it must be http://localhost:<port>. */
const way = (run: TunnelRun): string[] => {
  if (run.token !== null) return ['run'];
  const { name } = run.settings;
  if (name !== undefined) return ['run', '--url', tunnelOrigin(run), '--', name];
  // A configuration of another tunnel in its folder would make it refuse a quick one.
  return ['--config', '/dev/null', '--url', tunnelOrigin(run)];
};
