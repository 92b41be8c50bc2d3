import { cloudflared } from './cloudflared.js';
import { ngrok } from './ngrok.js';
import { ssh } from './ssh.js';
import { tailscale } from './tailscale.js';
import type { TunnelProvider } from './tunnel.js';

type ProgramName = TunnelProvider['program'];
export type ProviderName = ProgramName | 'proxy';

/** The providers that run a program here. A `proxy` is set up by hand, and nothing runs for it. */
export const programs: Record<ProgramName, TunnelProvider> = { cloudflared, ngrok, tailscale, ssh };

export const tunnelProvider = (name: ProviderName): TunnelProvider | null =>
  name === 'proxy' ? null : programs[name];

/** Returns the header with the address of a client; null if there is none. */
export const addressHeaderOf = (name: ProviderName): string | null =>
  name === 'proxy' ? 'x-forwarded-for' : programs[name].addressHeader;
