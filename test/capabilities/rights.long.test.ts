import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilAtLeast } from '../harness/app.js';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { writeScriptedGguf } from '../harness/scriptedgguf.js';
import { type MirrorHabits, sha256Of, startMirror } from './mirror.js';
import { type CapabilityStage, placeEngine, scriptedModel, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const FILE = await scriptedModel();

/** The rights of whoever has something installed, and what stays of the request. */
describe('an installation', () => {
  let stage: CapabilityStage;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'capabilities-'));
    await placeEngine(home);
  });
  afterEach(async () => {
    mirror.release();
    await stage.stop();
    await mirror.close();
    await rm(home, { recursive: true, force: true });
  });

  const open = async (habits: MirrorHabits = {}, file: Buffer = FILE) => {
    mirror = await startMirror(file, habits);
    const config = { egressAllow: [mirror.entry], capabilitySource: null };
    stage = await startCapabilities({ home, config });
  };
  const wanted = (over: object = {}) => ({
    ...{ id: 'gguf:house', url: mirror.url, sha256: sha256Of(FILE) },
    ...over,
  });
  const begin = async (body: object, token = stage.token): Promise<string> => {
    const reply = await stage.call('POST', '/api/capabilities/install', { token, body });
    expect([reply.status, reply.body.message]).to.equal([202, undefined]);
    return reply.body.id;
  };
  const row = (id: string) =>
    stage.app.store.db
      .selectFrom('operations')
      .select(['status', 'error', 'input'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const folders = () => readdir(join(home, 'capabilities'));
  const models = async () =>
    (await stage.ask('GET', '/api/models')).body.models.map((each: { name: string }) => each.name);

  const CHANGES = { demoted: { role: 'user' }, disabled: { disabled: true } };
  for (const [word, change] of Object.entries(CHANGES)) {
    it(`ends once its owner is ${word}, and leaves nothing`, async () => {
      await open({ stallsAfter: 1000 });
      const { id, token } = await stage.register('bob');
      const asAdmin = await stage.ask('PATCH', `/api/admin/users/${id}`, { role: 'admin' });
      expect(asAdmin.status).to.equal(200);
      const operation = await begin(wanted({ useCase: 'chat' }), token);
      await untilAtLeast(async () => mirror.ranges.length, 1);
      expect((await stage.ask('PATCH', `/api/admin/users/${id}`, change)).status).to.equal(200);
      mirror.release();
      const ended = await until(
        () => row(operation),
        ({ status }) => !['queued', 'running'].includes(status),
      );
      const error = 'The owner is no longer allowed to run this operation';
      expect(ended).to.equal({ status: 'cancelled', error, input: '{}' });
      expect([await folders(), await models()]).to.equal([['llama'], ['digest']]);
    });
  }

  it('needs the right to register models where it registers one', async () => {
    await open();
    const made = await stage.ask('POST', '/api/auth/tokens', {
      ...{ name: 'installs', scopes: ['capabilities:write'] },
    });
    const { token } = made.body;
    const body = wanted({ useCase: 'chat' });
    const refused = await stage.call('POST', '/api/capabilities/install', { token, body });
    expect([refused.status, refused.body.message]).to.equal([
      ...[403, 'The token lacks the scope models:write'],
    ]);
    expect((await stage.ended(await begin(wanted(), token))).status).to.equal('completed');
    expect(await models()).to.equal(['digest']);
  });

  it('keeps what it needs from being removed', async () => {
    await open({ stallsAfter: 1000 });
    const operation = await begin(wanted());
    const removal = await stage.ask('DELETE', '/api/capabilities/llama?force=true');
    expect([removal.status, removal.body.code]).to.equal([409, 'installing']);
    mirror.release();
    expect((await stage.ended(operation)).status).to.equal('completed');
    expect((await stage.ask('DELETE', '/api/capabilities/llama?force=true')).status).to.equal(204);
  });

  it('keeps no address with its keys once it has ended, in the database and on the disk', async () => {
    await open({ stallsAfter: 1000 });
    const operation = await begin(wanted({ url: `${mirror.url}?sig=TOPSECRET` }));
    const mark = await until(
      () => readFile(join(home, 'capabilities/.partial/house/.wanted'), 'utf8').catch(() => ''),
      (text) => text !== '',
    );
    expect(mark).to.match(/^[0-9a-f]{64}$/);
    mirror.release();
    expect((await stage.ended(operation)).status).to.equal('completed');
    expect((await row(operation)).input).to.equal('{}');
    expect(await readFile(join(home, 'capabilities/house/capability.json'), 'utf8'))
      .to.not.contain('TOPSECRET')
      .and.to.contain(mirror.url);
  });

  it('shows no keys of the addresses in a catalogue, and takes none with a password', async () => {
    await open();
    const catalogued = async (url: string) => {
      const catalogue = await writeCatalogue(home, [catalogueModel({}, { url })]);
      await stage.restart({ egressAllow: [mirror.entry], capabilitySource: null, catalogue });
      return (await stage.ask('GET', '/api/capabilities')).body.capabilities;
    };
    const signed = await catalogued('https://models.example.org/m.gguf?sig=TOPSECRET');
    const found = signed.find(({ id }: { id: string }) => id === 'gguf:tiny:Q8_0');
    expect(found.install.source).to.equal('https://models.example.org/m.gguf');
    const named = await catalogued('https://ada:hunter2@models.example.org/m.gguf');
    expect(JSON.stringify(named)).to.not.contain('hunter2').and.to.not.contain('gguf:tiny');
  });

  it('of what is no GGUF ends with its first bytes', async () => {
    await open({ stallsAfter: 1000 }, Buffer.alloc(1_000_000, 'junk'));
    const ended = await stage.ended(await begin(wanted()));
    expect(ended.error).to.equal(
      'The downloaded file does not begin with "GGUF" and was deleted. Check the URL and install again',
    );
    expect(await folders()).to.equal(['llama']);
  });

  const CONTEXTS = [
    [
      100,
      'house is installed but was not registered. The context of the model has 100 tokens, but at least 256 are required. Install a model with a longer context',
    ],
    [
      4_294_967_295,
      'The file is not a supported model. The file declares a context of 4294967295 tokens, the maximum is 100000000. Download the file again or choose another model',
    ],
  ] as const;
  for (const [contextLength, error] of CONTEXTS) {
    it(`registers no model with a context of ${contextLength} tokens`, async () => {
      const path = join(home, 'odd.gguf');
      writeScriptedGguf(path, [' Hello'], { contextLength });
      const file = await readFile(path);
      await open({}, file);
      const operation = await begin(wanted({ sha256: sha256Of(file), useCase: 'chat' }));
      expect((await stage.ended(operation)).error).to.equal(error);
      expect(await models()).to.equal(['digest']);
    });
  }

  it('has no name that no model may have', async () => {
    await open();
    for (const name of ['default', 'test', 'routing']) {
      const body = wanted({ id: `gguf:${name}`, useCase: 'chat' });
      const { status, body: reply } = await stage.ask('POST', '/api/capabilities/install', body);
      expect([status, reply.details[0].path]).to.equal([400, 'id']);
    }
  });
});
