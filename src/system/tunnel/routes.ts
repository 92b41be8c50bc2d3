import Boom from '@hapi/boom';
import { findProgram } from '../../kernel/program.js';
import { resource, throwIfFaults } from '../../kernel/route.js';
import { findPrograms } from '../../providers/tunnels/find.js';
import { scanHostKeys } from '../../providers/tunnels/hostkeys.js';
import { proxyConfigs } from '../../providers/tunnels/proxy.js';
import { tunnel as contract } from './contract.js';
import { fileFault, pairFault, parseOrigin, tunnelFaults } from './rules.js';
import {
  checkTunnel,
  forgetAddress,
  setTunnel,
  switchTunnel,
  type TunnelServiceDeps,
  viewTunnel,
} from './service.js';

export const tunnelResource = (deps: TunnelServiceDeps) => {
  const { tunnel, store } = deps;
  const { cliPath: folders } = deps.config;
  return resource('tunnel', contract, {
    get: async () => viewTunnel(deps),
    set: ({ body }, by) => setTunnel(deps, body, by),
    start: (_input, by) => switchTunnel(deps, true, by),
    stop: (_input, by) => switchTunnel(deps, false, by),
    check: (_input, by) => checkTunnel(deps, by),
    address: async () => {
      const address = tunnel.address();
      const isTemporary = address !== null && tunnel.publicUrl() === null;
      const publicUrlSetting = deps.config.publicUrl !== null;
      return { address, isTemporary, publicUrlSetting, reach: tunnel.reach() };
    },
    forget: (_input, by) => forgetAddress(deps, by),
    programs: async () => ({ programs: await findPrograms(folders) }),
    'host-keys': async ({ body }, by) => {
      const candidate = { provider: 'ssh' as const, remotePort: 1, ...body };
      throwIfFaults(tunnelFaults({ ...candidate, publicUrl: 'https://a.test' }, null));
      const keyscan = await findProgram(folders, 'ssh-keyscan');
      if (keyscan === null)
        throw Boom.conflict(
          'ssh-keyscan is not installed on the machine of the daemon. Install the OpenSSH client there',
        );
      await store.transact([by.record({ target: body.target })]);
      return { hostKeys: await scanHostKeys(keyscan, { ...body, folders }) };
    },
    config: async ({ query: { proxy, publicUrl, certificate, key } }) => {
      throwIfFaults([
        ...fileFault('certificate', certificate),
        ...fileFault('key', key),
        ...pairFault({ certificate, key }),
      ]);
      const address = publicUrl ?? tunnel.publicUrl();
      if (address === null) {
        throw Boom.conflict(
          'No public address is known. Send publicUrl, such as https://hooks.example.org',
          {
            code: 'no_public_url',
          },
        );
      }
      const origin = parseOrigin(address);
      if (origin === null)
        throwIfFaults(tunnelFaults({ provider: 'proxy', publicUrl: address }, null));
      const files = certificate && key ? { certificate, key } : null;
      const site = { url: new URL(origin ?? address), upstream: tunnel.upstream(), files };
      return { text: proxyConfigs[proxy](site) };
    },
  });
};
