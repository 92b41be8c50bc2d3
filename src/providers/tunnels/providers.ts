import { cloudflared } from './cloudflared.js';
import { ngrok } from './ngrok.js';
import { ssh } from './ssh.js';
import { tailscale } from './tailscale.js';
import type { TunnelProvider } from './tunnel.js';

export type ProgramName = 'cloudflared' | 'ngrok' | 'tailscale' | 'ssh';
export type ProviderName = ProgramName | 'proxy';

/** Those that run a program here. A `proxy` is set up by hand, and nothing runs on its behalf. */
export const programs: Record<ProgramName, TunnelProvider> = { cloudflared, ngrok, tailscale, ssh };

export const tunnelProvider = (name: ProviderName): TunnelProvider | null =>
  name === 'proxy' ? null : programs[name];

/** In which header the address of a client is told; null: in none. */
export const addressHeaderOf = (name: ProviderName): string | null =>
  name === 'proxy' ? 'x-forwarded-for' : programs[name].addressHeader;
