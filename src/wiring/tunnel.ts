import type { Exposure } from '../accounts/auth/rules.js';
import type { Config } from '../config.js';
import { addressSet, isLoopbackHost, type ProxyTrust } from '../kernel/clientaddress.js';
import type { Resource } from '../kernel/route.js';
import { tunnelStore } from '../system/tunnel/queries.js';
import { tunnelResource } from '../system/tunnel/routes.js';
import type { ExposedOpening } from '../system/tunnel/step.js';
import { createTunnel, type Tunnel, type TunnelDeps } from '../system/tunnel/tunnel.js';
import type { Parts } from './parts.js';
import type { Runtime } from './runtime.js';

type TunnelBase = Pick<Parts, 'config' | 'store' | 'clock' | 'http'> & Pick<TunnelDeps, 'log'>;

/** Opens the tunnel. Its settings are read before anything listens, since they decide which proxies are trusted. */
export const openTunnel = async (
  base: TunnelBase,
  { hub, vault }: Runtime,
  secrets: Parts['secrets'],
): Promise<Tunnel> => {
  const unsealToken = secrets.tunnel.unseal;
  const tunnel = createTunnel({ ...base, hub, vault, unsealToken, settings: base.config });
  await tunnel.load();
  return tunnel;
};

/** Returns the trusted proxies: those of the settings, and the tunnel's own end on this machine. */
export const proxyTrust = ({ trustedProxies }: Config, tunnel: Tunnel): (() => ProxyTrust) => {
  const proxies = addressSet(trustedProxies);
  return () => ({ proxies, tunnel: tunnel.trust() });
};

export const exposureOf = (config: Config, tunnel: Tunnel): Exposure => {
  const { registration, host, publicUrl, trustedProxies } = config;
  return { registration, host, publicUrl, trustedProxies, isTunnelled: tunnel.row() !== null };
};

export const tunnelResources = (parts: Parts): Resource => {
  const { config, clock, store, runtime, secrets, tunnel } = parts;
  return tunnelResource({
    ...{ tunnel, clock, store: tunnelStore(store), vault: runtime.vault },
    sealToken: secrets.tunnel.seal,
    fixedUrl: config.publicUrl,
    folders: config.cliPath,
    openings: () => openingsOf(config),
  });
};

/** Returns the settings that give unauthenticated clients more than they should have, for a check. */
const openingsOf = ({ registration, host, port }: Config): ExposedOpening[] => [
  ...(registration === 'open'
    ? [
        {
          seen: 'anybody may make an account',
          remedy: 'unset ADJUTANT_REGISTRATION, then: adjutant restart',
        },
      ]
    : []),
  ...(isLoopbackHost(host)
    ? []
    : [
        {
          seen: `port ${port} answers beyond this machine without TLS`,
          remedy: 'adjutant restart --host 127.0.0.1',
        },
      ]),
];
