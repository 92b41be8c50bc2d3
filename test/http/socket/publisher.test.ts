import { expect } from '@hapi/code';
import * as Hapi from '@hapi/hapi';
import * as Lab from '@hapi/lab';
import { defaults } from '../../../src/http/socket/limits.js';
import { handleUpgrades } from '../../../src/http/socket/publisher.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('nes behind the gate', () => {
  const settings = {
    strategy: 'jwt',
    channels: { 'agent.status': 'agents:read' },
    limits: defaults,
  };
  const create = (): Hapi.Server => {
    const server = Hapi.server();
    server.auth.scheme('none', () => ({ authenticate: (_request, h) => h.continue }));
    server.auth.strategy('jwt', 'none');
    return server;
  };

  it('does not listen for upgrades, and takes no longer frames than the limit', async () => {
    const server = create();
    const wss = await handleUpgrades(server, settings);
    expect(server.listener.listenerCount('upgrade')).to.equal(0);
    expect(wss.options).to.include({ maxPayload: 256 * 1024, closeTimeout: 1_000 });
  });

  it('is not opened where another part listens for upgrades', async () => {
    const server = create();
    server.listener.on('upgrade', () => {});
    await expect(handleUpgrades(server, settings)).to.reject(
      'Another upgrade listener is already registered',
    );
  });

  it('is not opened where nes has changed inside', async () => {
    const server = create();
    Object.defineProperty(server.plugins, 'nes', { get: () => ({}), set: () => {} });
    await expect(handleUpgrades(server, settings)).to.reject(/^@hapi\/nes has changed internally/);
  });
});
