import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loadMasterKey } from '../../src/secrets/master.js';
import { frozenClock } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { at, ELSEWHERE, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const KEY = 'sk-canary-1234567890';
const SEES = {
  ...{ tools: true, vision: true, streaming: true },
  ...{ embeddings: false, transcription: false },
};
const UNKNOWN = {
  status: 'unknown',
  latencyMs: null,
  lastError: null,
  checkedAt: null,
  circuit: 'closed',
  retryAt: null,
};

describe('models', () => {
  const stage = openForSuite(lab, () => startStage({}, frozenClock()));
  afterEach(async () => {
    const { body } = await stage.ask('GET', '/api/models?limit=200');
    for (const { name, source } of body.models) {
      if (source === 'registry') await stage.ask('DELETE', at(name));
    }
  });

  const names = async (query = ''): Promise<string[]> =>
    (await stage.ask('GET', `/api/models${query}`)).body.models.map(
      ({ name }: { name: string }) => name,
    );
  const rowOf = (name: string) =>
    stage.app.store.db
      .selectFrom('models')
      .select(['id', 'key_sealed'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
  const keyOf = async (name: string): Promise<string | null> => {
    const { id, key_sealed: sealed } = await rowOf(name);
    const { keyring } = loadMasterKey(stage.home, null);
    return sealed && keyring.unseal(`models:${id}:key`, sealed).toString();
  };

  it('are the built-in digest alone where nobody registered one', async () => {
    const { status, body } = await stage.ask('GET', '/api/models');
    expect(status).to.equal(200);
    expect(body).to.equal({
      models: [
        {
          id: 'digest',
          orgId: null,
          name: 'digest',
          provider: 'digest',
          modelId: 'digest',
          baseUrl: null,
          credentialId: null,
          apiKeySet: false,
          contextWindow: Number.MAX_SAFE_INTEGER,
          maxOutputTokens: null,
          supports: { ...SEES, tools: false, vision: false },
          price: null,
          embedding: null,
          topics: [],
          fallbacks: [],
          enabled: true,
          isDefault: true,
          source: 'builtin',
          health: { ...UNKNOWN, status: 'up' },
        },
      ],
      nextCursor: null,
    });
  });

  it('are registered with what is given', async () => {
    await stage.add('spare');
    const given = {
      name: 'house/large',
      provider: 'litellm',
      modelId: 'gpt-large',
      baseUrl: 'http://127.0.0.1:4000/v1',
      apiKey: KEY,
      contextWindow: 32_000,
      maxOutputTokens: 4000,
      supports: { tools: false },
      price: { inputPerMTok: 1.5, outputPerMTok: 6 },
      topics: ['triage', 'report'],
      fallbacks: ['spare', 'digest'],
    };
    const { status, body, text } = await stage.ask('POST', '/api/models', given);
    expect(status).to.equal(201);
    const { apiKey, ...rest } = given;
    expect(body).to.equal({
      ...rest,
      id: (await rowOf('house/large')).id,
      orgId: null,
      embedding: null,
      topics: ['report', 'triage'],
      supports: { ...SEES, tools: false, vision: false },
      credentialId: null,
      apiKeySet: true,
      enabled: true,
      isDefault: false,
      source: 'registry',
      health: UNKNOWN,
    });
    expect(text).to.not.contain(apiKey);
    expect(await keyOf('house/large')).to.equal(KEY);
    expect((await stage.ask('GET', at('house/large'))).body).to.equal(body);
    expect(await names()).to.equal(['house/large', 'spare', 'digest']);
  });

  it('take from the published facts what is left out', async () => {
    const { body } = await stage.ask('POST', '/api/models', {
      name: 'sonnet',
      provider: 'anthropic',
      modelId: 'claude-sonnet-4-5-20250929',
    });
    expect(body).to.include({
      baseUrl: null,
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      supports: SEES,
      price: { inputPerMTok: 3, outputPerMTok: 15 },
    });
    const local = await stage.add('local', { provider: 'ollama', price: null, baseUrl: null });
    expect(local).to.include({ contextWindow: 8192, maxOutputTokens: null, price: null });
  });

  it('are listed page by page, and by provider, topic and state', async () => {
    await stage.add('one', { topics: ['triage'] });
    await stage.add('two', { provider: 'ollama' });
    await stage.add('three', { enabled: false });
    const { body: first } = await stage.ask('GET', '/api/models?limit=2');
    expect(first.models.map(({ name }: { name: string }) => name)).to.equal(['three', 'two']);
    expect(await names(`?limit=2&cursor=${first.nextCursor}`)).to.equal(['one', 'digest']);
    expect(await names('?cursor=nobody')).to.equal([]);
    expect(await names('?provider=ollama')).to.equal(['two']);
    expect(await names('?topic=triage')).to.equal(['one']);
    expect(await names('?enabled=false')).to.equal(['three']);
  });

  for (const [what, given, path, message] of [
    ['the name of a route', { name: 'routing' }, 'name', /reserved word/],
    ['a name below a route', { name: 'cli/status' }, 'name', /reserved word/],
    ['a name of odd characters', { name: 'a b' }, 'name', /letters, digits/],
    ['a name that leads upwards', { name: '../x' }, 'name', /letters, digits/],
    [
      'a command-line tool that is none',
      { provider: 'cli', modelId: 'cloud', baseUrl: null },
      'modelId',
      /must be one of/,
    ],
    ['another digest', { provider: 'digest' }, 'provider', /built in/],
    ['an unknown provider', { provider: 'acme' }, 'provider', /must be one of/],
    [
      'a vault entry of nobody',
      { credentialId: 'credential_1' },
      'credentialId',
      /one of your credentials/,
    ],
    ['no address where one is needed', { baseUrl: null }, 'baseUrl', /is required/],
    [
      'an address without a scheme',
      { baseUrl: '127.0.0.1:1/v1' },
      'baseUrl',
      /begin with http:\/\//,
    ],
    ['an address that is none', { baseUrl: 'http://' }, 'baseUrl', /The URL is invalid/],
    ['an address with a password', { baseUrl: 'http://a:b@c/' }, 'baseUrl', /credentials/],
    ['a metadata service', { baseUrl: 'http://169.254.169.254/v1' }, 'baseUrl', /always blocked/],
    ['an address with a query', { baseUrl: 'http://127.0.0.1/v1?k=1' }, 'baseUrl', /query string/],
    ['an unknown fallback', { fallbacks: ['nobody'] }, 'fallbacks.0', /one of the models/],
    ['itself as a fallback', { fallbacks: ['new'] }, 'fallbacks.0', /itself/],
    ['a fallback twice', { fallbacks: ['digest', 'digest'] }, 'fallbacks', /duplicates/],
    ['a topic twice', { topics: ['a', 'a'] }, 'topics', /duplicates/],
    [
      'a price below nought',
      { price: { inputPerMTok: -1, outputPerMTok: 0 } },
      'price.inputPerMTok',
      /greater/,
    ],
    ['an unknown key', { owner: 'me' }, 'owner', /not allowed/],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      const whole = {
        name: 'new',
        provider: 'openai-compatible',
        modelId: 'x',
        baseUrl: ELSEWHERE,
      };
      const { status, body } = await stage.ask('POST', '/api/models', { ...whole, ...given });
      expect(status).to.equal(400);
      expect(body.details.map((detail: { path: string }) => detail.path)).to.equal([path]);
      expect(body.details[0].message).to.match(message);
      expect(await names()).to.equal(['digest']);
    });
  }

  it('have a base URL without the path of a request', async () => {
    for (const path of ['/chat/completions', '/completions/']) {
      const changes = { baseUrl: `${ELSEWHERE}${path}` };
      await stage.add('cut');
      const { body } = await stage.ask('PATCH', at('cut'), changes);
      expect(body.baseUrl).to.equal(ELSEWHERE);
      await stage.ask('DELETE', at('cut'));
    }
  });

  it('have names of their own, digest among them', async () => {
    await stage.add('one');
    for (const name of ['one', 'digest']) {
      const given = { name, provider: 'ollama', modelId: 'x' };
      const { status, body } = await stage.ask('POST', '/api/models', given);
      expect([status, body.code]).to.equal([409, 'name_taken']);
    }
    const tries = await Promise.all(
      Array.from({ length: 10 }, () =>
        stage.ask('POST', '/api/models', { name: 'race', provider: 'ollama', modelId: 'x' }),
      ),
    );
    expect(tries.map(({ status }) => status).sort()).to.equal([201, ...Array(9).fill(409)]);
  });

  it('change what is given and keep the rest', async () => {
    const before = await stage.add('one', { apiKey: KEY, topics: ['triage'] });
    const { status, body } = await stage.ask('PATCH', at('one'), {
      contextWindow: 1000,
      supports: { vision: true },
      price: { inputPerMTok: 1, outputPerMTok: 2 },
    });
    expect(status).to.equal(200);
    expect(body).to.equal({
      ...before,
      contextWindow: 1000,
      supports: SEES,
      price: { inputPerMTok: 1, outputPerMTok: 2 },
    });
    expect(await keyOf('one')).to.equal(KEY);
    expect((await stage.ask('PATCH', at('one'), { price: null })).body.price).to.be.null();
    expect((await stage.ask('PATCH', at('one'), body)).body).to.equal(body);
    expect((await stage.ask('PATCH', at('one'), {})).status).to.equal(400);
    expect((await stage.ask('PATCH', at('one'), { fallbacks: ['one'] })).status).to.equal(400);
    expect((await stage.ask('PATCH', at('nobody'), { enabled: true })).status).to.equal(404);
  });

  it('lose no change of several at once', async () => {
    await stage.add('one');
    const changes = [{ contextWindow: 999 }, { maxOutputTokens: 77 }, { enabled: false }];
    await Promise.all(changes.map((change) => stage.ask('PATCH', at('one'), change)));
    const { body } = await stage.ask('GET', at('one'));
    expect(body).to.include({ contextWindow: 999, maxOutputTokens: 77, enabled: false });
  });

  it('show their key to no other place than the one it was given for', async () => {
    await stage.add('one', { apiKey: KEY });
    await stage.ask('PATCH', at('one'), { baseUrl: 'http://127.0.0.1:9/other' });
    expect(await keyOf('one')).to.equal(KEY);
    const moved = await stage.ask('PATCH', at('one'), { baseUrl: 'http://127.0.0.1:10/v1' });
    expect(moved.body.apiKeySet).to.be.false();
    const both = { baseUrl: ELSEWHERE, apiKey: 'another-key' };
    await stage.ask('PATCH', at('one'), both);
    expect(await keyOf('one')).to.equal('another-key');
    await stage.ask('PATCH', at('one'), { apiKey: null });
    expect(await keyOf('one')).to.be.null();
  });

  it('are deleted, but for those that are built in', async () => {
    await stage.add('one');
    expect((await stage.ask('DELETE', at('one'))).status).to.equal(204);
    expect((await stage.ask('DELETE', at('one'))).status).to.equal(404);
    for (const [method, body] of [['DELETE'], ['PATCH', { enabled: false }]] as const) {
      const refused = await stage.ask(method, at('digest'), body);
      expect([refused.status, refused.body.code]).to.equal([409, 'model_fixed']);
    }
  });

  it('are the admin’s to change and everybody’s to see', async () => {
    await stage.add('one');
    const asUser = (method: string, path: string, body?: object) =>
      stage.call(method, path, { token: stage.user, ...(body && { body }) });
    const writes: [string, string, object?][] = [
      ['POST', '/api/models', { name: 'x', provider: 'ollama', modelId: 'x' }],
      ['PATCH', at('one'), { enabled: false }],
      ['DELETE', at('one')],
      ['POST', `${at('one')}/default`],
      ['POST', `${at('one')}/test`],
      ['PUT', '/api/models/routing', { default: 'one' }],
      ['POST', '/api/models/test', { provider: 'ollama', modelId: 'x' }],
      ['GET', '/api/models/health?check=true'],
      ['GET', `/api/models/providers/ollama/models?baseUrl=${encodeURIComponent(ELSEWHERE)}`],
    ];
    for (const [method, path, body] of writes) {
      expect((await asUser(method, path, body)).status, `${method} ${path}`).to.equal(403);
    }
    for (const path of ['', '/one', '/routing', '/health', '/usage', '/providers/openai/known']) {
      expect((await asUser('GET', `/api/models${path}`)).status, path).to.equal(200);
    }
  });

  it('show their address and credential to admins only', async () => {
    const value = { name: 'key', type: 'api_key', value: KEY };
    const { id: credentialId } = (await stage.ask('POST', '/api/vault', value)).body;
    await stage.add('one', { credentialId });
    expect((await stage.ask('GET', at('one'))).body).to.include({
      baseUrl: ELSEWHERE,
      credentialId,
    });
    const token = stage.user;
    const { body } = await stage.call('GET', at('one'), { token });
    expect(body).to.include({ baseUrl: null, credentialId: null, apiKeySet: true });
    expect((await stage.call('GET', '/api/models', { token })).text).to.not.contain(ELSEWHERE);
  });

  it('are written to the audit log without their key', async () => {
    await stage.add('one', { apiKey: KEY });
    await stage.ask('DELETE', at('one'));
    const { body, text } = await stage.ask('GET', '/api/admin/audit?action=models.create');
    const [row] = body.entries;
    expect(row).to.include({ action: 'models.create', target: 'one', outcome: 'ok' });
    expect(row.data).to.include({ name: 'one', apiKey: 'given' });
    expect(text).to.not.contain(KEY);
  });

  it('keep their key out of the file of the database', async () => {
    await stage.add('one', { apiKey: KEY });
    const { rows } = await stage.app.store
      .transact([{ sql: 'SELECT * FROM models', parameters: [] }])
      .then(([outcome]) => outcome ?? { rows: [] });
    expect(JSON.stringify(rows)).to.not.contain(KEY);
  });
});

describe('the model of the settings', () => {
  it('is there, read-only, and goes before one of the registry', async () => {
    const stage = await startStage({ modelUrl: ELSEWHERE, modelName: 'env/fake', modelKey: KEY });
    const { body, text } = await stage.ask('GET', at('env/fake'));
    expect(body).to.include({
      name: 'env/fake',
      provider: 'openai-compatible',
      baseUrl: ELSEWHERE,
      apiKeySet: true,
      isDefault: true,
      source: 'settings',
    });
    expect(text).to.not.contain(KEY);
    for (const [method, given] of [['DELETE'], ['PATCH', { enabled: false }]] as const) {
      const refused = await stage.ask(method, at('env/fake'), given);
      expect([refused.status, refused.body.code]).to.equal([409, 'model_fixed']);
      expect(refused.body.message).to.contain('ADJUTANT_MODEL_URL');
    }
    await stage.add('one', { contextWindow: 4000 });
    await stage.restart({ modelName: 'one' });
    const { body: list } = await stage.ask('GET', '/api/models');
    expect(list.models.map(({ name, source }: Record<string, string>) => [name, source])).to.equal([
      ['one', 'settings'],
      ['digest', 'builtin'],
    ]);
    await stage.restart({ modelUrl: null, modelName: null });
    expect((await stage.ask('GET', at('one'))).body).to.include({
      source: 'registry',
      contextWindow: 4000,
      isDefault: true,
    });
    await stage.stop();
  });
});
