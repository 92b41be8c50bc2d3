import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { seatbelt } from '../../../src/providers/confine/seatbelt.js';
import { listenTcp } from '../../kernel/listen.js';
import { type Ground, ground } from './ground.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

// Registered where it can run at all: elsewhere it would be a skip for ever.
const onMacOs = process.platform === 'darwin' ? describe : () => undefined;

onMacOs('seatbelt on macOS', () => {
  const confinement = seatbelt();
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  it('reads and writes the folder, and nothing beside it', async () => {
    const script = `echo own > own; cat own ${on.keyFile}; ls ~root; echo x > ../other`;
    const ran = await confinement.run(on.run(['sh', '-c', script]));
    expect([ran.exitCode, ran.stdout]).to.equal([1, 'own\n']);
  });

  it('reaches no listener on the machine', async () => {
    const server = await listenTcp(() => {});
    const call = `echo x > /dev/tcp/127.0.0.1/${server.port}`;
    const ran = await confinement.run(on.run(['bash', '-c', call]));
    await server.close();
    expect([ran.exitCode, server.sockets.length]).to.equal([1, 0]);
  });

  it('kills the command at the time-out', async () => {
    const ran = await confinement.run(on.run(['sh', '-c', 'sleep 60 & wait'], { timeoutMs: 500 }));
    expect([ran.exitCode, ran.signal, ran.timedOut]).to.equal([null, 'SIGKILL', true]);
  });
});
