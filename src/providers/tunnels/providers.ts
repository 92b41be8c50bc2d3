import { cloudflared } from './cloudflared.js';
import { ngrok } from './ngrok.js';
import { ssh } from './ssh.js';
import { tailscale } from './tailscale.js';
import type { TunnelProvider } from './tunnel.js';

type ProgramName = TunnelProvider['program'];
export type ProviderName = ProgramName | 'proxy';

/** A `proxy` is configured by hand, and no program runs for it. */
export const programs: Record<ProgramName, TunnelProvider> = { cloudflared, ngrok, tailscale, ssh };

export const tunnelProvider = (name: ProviderName): TunnelProvider | null =>
  name === 'proxy' ? null : programs[name];

/** The header that carries the client address; null if there is none. */
export const getAddressHeader = (name: ProviderName): string | null =>
  name === 'proxy' ? 'x-forwarded-for' : programs[name].addressHeader;
