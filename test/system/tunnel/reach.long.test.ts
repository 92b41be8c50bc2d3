import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { seedPasskey } from '../../harness/passkey.js';
import { type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** Nothing listens there: no check comes through. */
const PUBLIC = 'http://127.0.0.1:1';
const PROXY = { provider: 'proxy', publicUrl: PUBLIC };

describe('the public address', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage();
  });
  afterEach(() => stage.stop());

  const told = async () => {
    const [tunnel, address, overview] = [
      await stage.state(),
      (await stage.call('GET', '/api/tunnel/address', { token: stage.user })).body,
      (await stage.ask('GET', '/api/overview')).body,
    ];
    return [tunnel.reach, address.reach, overview.reach];
  };
  const everywhere = (reach: string) => [reach, reach, reach];
  const part = async (): Promise<{ status: string; detail: string } | undefined> => {
    const { parts } = (await stage.ask('GET', '/api/overview')).body;
    return parts.find(({ name }: { name: string }) => name === 'tunnel');
  };
  /** As a check writes it down that came through. */
  const verify = async (address: string): Promise<void> => {
    const row = { id: 'reach' as const, address, is_ok: 1, checked_at: '2026-01-31T09:30:00.000Z' };
    await stage.app.store.db.insertInto('tunnel_reach').values(row).execute();
    await stage.restart();
  };

  it('is unverified until a check came through, on every screen, and makes no health', async () => {
    expect(await told()).to.equal(everywhere('none'));
    await stage.open(PROXY);
    expect(await told()).to.equal(everywhere('unverified'));
    expect(await part()).to.include({
      status: 'warn',
      detail: `proxy up, ${PUBLIC}, not verified (run adjutant tunnel check)`,
    });
    const invite = await stage.ask('POST', '/api/admin/users/new/invite', {});
    expect([invite.status, invite.body.reach]).to.equal([201, 'unverified']);
  });

  it('has failed where the last check did, and that outlives a restart', async () => {
    await stage.open(PROXY);
    expect((await stage.ask('POST', '/api/tunnel/check')).body.ok).to.be.false();
    expect(await told()).to.equal(everywhere('failed'));
    await stage.restart();
    expect(await told()).to.equal(everywhere('failed'));
    expect((await part())?.status).to.equal('warn');
  });

  it('is verified as long as it is up and is the one that was checked', async () => {
    await stage.open(PROXY);
    await verify(PUBLIC);
    expect([await told(), (await part())?.status]).to.equal([everywhere('verified'), 'ok']);
    await stage.ask('POST', '/api/tunnel/stop');
    expect(await told()).to.equal(everywhere('unverified'));
    await stage.ask('POST', '/api/tunnel/start');
    expect(await told()).to.equal(everywhere('verified'));
    await stage.ask('PUT', '/api/tunnel', { ...PROXY, publicUrl: 'http://127.0.0.1:2' });
    expect(await told()).to.equal(everywhere('unverified'));
    await stage.ask('PUT', '/api/tunnel', {
      provider: 'ngrok',
      publicUrl: PUBLIC,
      token: 'a-token-of-it',
    });
    expect((await stage.state()).reach).to.equal('unverified');
  });

  it('is forgotten on request, with what was known of it, on the record', async () => {
    await stage.open(PROXY);
    await verify(PUBLIC);
    const { id } = (await stage.call('GET', '/api/auth/me', { token: stage.user })).body;
    await seedPasskey(stage, id);
    const passkeys = stage.app.store.db.updateTable('passkeys');
    await passkeys.set({ relying_party: '127.0.0.1', name: 'key' }).execute();
    const { status, body } = await stage.ask('DELETE', '/api/tunnel/address');
    expect([status, body.passkeysLost]).to.equal([
      200,
      [{ username: 'user', name: 'key', relyingParty: '127.0.0.1' }],
    ]);
    expect(body).to.include({ provider: 'proxy', publicUrl: null, address: null, on: false });
    expect(await told()).to.equal(everywhere('none'));
    const { entries } = (await stage.ask('GET', '/api/admin/audit?action=tunnel.forget')).body;
    expect(entries.map(({ target }: { target: string }) => target)).to.equal([PUBLIC]);
    await stage.ask('PUT', '/api/tunnel', PROXY);
    await stage.ask('POST', '/api/tunnel/start');
    expect((await stage.state()).reach).to.equal('unverified');
  });

  it('is not forgotten where nothing is set up, nor where a setting says it', async () => {
    const refused = async () => {
      const { status, body } = await stage.ask('DELETE', '/api/tunnel/address');
      return [status, body.code];
    };
    expect(await refused()).to.equal([409, 'tunnel_not_set_up']);
    const { token } = { token: stage.user };
    expect((await stage.call('DELETE', '/api/tunnel/address', { token })).status).to.equal(403);
    await stage.restart({ publicUrl: 'https://hooks.example.org' });
    expect(await refused()).to.equal([409, 'public_url_setting']);
    expect((await told())[1]).to.equal('unverified');
  });
});
