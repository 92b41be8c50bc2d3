import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ModelFailure } from '../../src/providers/llm/model.js';
import { enterAs, type Stage, startStage } from '../agents/stage.js';
import { PASSWORD, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type Openai, says, startOpenai } from '../harness/openai.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const KEY = 'sk-of-acme-1234567890';
const NAME = 'acme/large';
const pathOf = (name: string): string => `/api/models/${encodeURIComponent(name)}`;
const PRICE = { inputPerMTok: 10, outputPerMTok: 0 };

describe('models of an organization', () => {
  /** The server whose address acme may use. */
  let theirs: Openai;
  let root: Stage;
  let olga: Stage;
  let max: Stage;
  let eve: Stage;
  let orgId: string;
  let otherId: string;

  before(async () => {
    theirs = await startOpenai();
    root = await startStage({ egressAllow: [new URL(theirs.baseUrl).host] });
    // An owner, a member, and a stranger who owns another organization.
    olga = await enterAs(root, 'olga');
    max = await enterAs(root, 'max');
    eve = await enterAs(root, 'eve');
    orgId = await newOrg(olga, 'acme');
    otherId = await newOrg(eve, 'other');
    await olga.ask('POST', `/api/orgs/${orgId}/members`, { username: 'max' });
    const made = await olga.ask('POST', '/api/models', large());
    expect(made.status, made.text).to.equal(201);
  });
  after(async () => {
    await root.stop();
    await theirs.stop();
  });
  beforeEach(() => {
    theirs.asked.length = 0;
    theirs.script(...Array.from({ length: 9 }, () => says({ text: 'Of acme.' })));
    root.model.script(...Array.from({ length: 9 }, () => says({ text: 'Of all.' })));
  });

  const newOrg = async (owner: Stage, slug: string): Promise<string> => {
    const { body } = await owner.ask('POST', '/api/orgs', { slug, name: slug });
    await root.ask('PATCH', `/api/admin/orgs/${body.id}`, { approved: true });
    return body.id;
  };
  const large = (more: object = {}) => ({
    ...{ orgId, name: NAME, provider: 'openai-compatible', modelId: 'fake-1', apiKey: KEY },
    ...{ baseUrl: theirs.baseUrl, price: PRICE, ...more },
  });
  const namesOf = async (who: Stage, query = ''): Promise<string[]> =>
    (await who.ask('GET', `/api/models${query}`)).body.models.map(
      ({ name }: { name: string }) => name,
    );
  const faultOf = async (who: Stage, method: string, path: string, body?: object) => {
    const reply = await who.ask(method, path, body);
    return [reply.status, reply.body.details?.[0]?.path ?? reply.body.code];
  };
  const resultOf = async (who: Stage, body: object) => {
    const { id } = await who.spawn({ prompt: 'Say it', ...body });
    return (await who.reaches(id)).result;
  };

  it('are listed for its members, with the address for those who may change them', async () => {
    const owned = (await olga.ask('GET', pathOf(NAME))).body;
    expect(owned).to.include({ name: NAME, orgId, baseUrl: theirs.baseUrl, apiKeySet: true });
    expect(owned).to.include({ topics: [], isDefault: false, source: 'registry' });
    const seen = await max.ask('GET', pathOf(NAME));
    expect(seen.body).to.equal({ ...owned, baseUrl: null });
    expect(await namesOf(max)).to.equal([NAME, 'fake', 'digest']);
    expect(await namesOf(max, `?orgId=${orgId}`)).to.equal([NAME, 'fake', 'digest']);
    expect(await namesOf(max, '?orgId=personal')).to.equal(['fake', 'digest']);
    expect((await olga.ask('GET', '/api/models')).text).not.to.contain(KEY);
  });

  it('are listed page by page with those of the installation', async () => {
    await root.ask('POST', '/api/models', { ...large(), orgId: undefined, name: 'newer' });
    expect(await namesOf(max)).to.equal(['newer', NAME, 'fake', 'digest']);
    let query = '?limit=1';
    const names: string[] = [];
    for (;;) {
      const { body } = await max.ask('GET', `/api/models${query}`);
      names.push(...body.models.map(({ name }: { name: string }) => name));
      if (body.nextCursor === null) break;
      query = `?limit=1&cursor=${body.nextCursor}`;
    }
    expect(names).to.equal(['newer', NAME, 'fake', 'digest']);
    expect((await root.ask('DELETE', '/api/models/newer')).status).to.equal(204);
  });

  it('show an admin of the installation who is a member the addresses of both', async () => {
    await olga.ask('POST', `/api/orgs/${orgId}/members`, { username: 'owner', role: 'admin' });
    const { body } = await root.ask('GET', '/api/models');
    const addresses = body.models.map(({ baseUrl }: { baseUrl: string | null }) => baseUrl);
    expect(addresses).to.equal([theirs.baseUrl, root.model.baseUrl, null]);
    await olga.ask('DELETE', `/api/orgs/${orgId}/members/${root.userId}`);
  });

  it('do not exist for others, whatever they do', async () => {
    const unknown = 'acme/unknown';
    for (const who of [eve, root]) {
      expect(await namesOf(who)).to.equal(['fake', 'digest']);
      expect(await namesOf(who, `?cursor=${(await olga.ask('GET', pathOf(NAME))).body.id}`))
        .to //
        .equal(['fake', 'digest']);
      expect((await who.ask('GET', '/api/models/health')).text).not.to.contain(NAME);
      expect((await who.ask('GET', `/api/models?orgId=${orgId}`)).status).to.equal(404);
      for (const [method, suffix, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { enabled: false }],
        ['DELETE', '', undefined],
        ['POST', '/test', undefined],
        ['POST', '/default', undefined],
      ] as const) {
        const replyTo = async (name: string) => {
          const { status, body: reply } = await who.ask(method, pathOf(name) + suffix, body);
          return { status, message: reply.message };
        };
        expect(await replyTo(NAME), `${method} ${suffix}`).to.equal(await replyTo(unknown));
      }
    }
    expect((await olga.ask('GET', pathOf(NAME))).body.enabled).to.be.true();
  });

  it('are changed by owners and admins alone, and change nothing of the installation', async () => {
    expect(await faultOf(max, 'PATCH', pathOf(NAME), { contextWindow: 9000 })).to.equal([
      ...[403, 'org_role'],
    ]);
    expect(await faultOf(max, 'POST', '/api/models', large({ name: 'acme/two' }))).to.equal([
      ...[403, 'org_role'],
    ]);
    const changed = await olga.ask('PATCH', pathOf(NAME), { contextWindow: 9000 });
    expect([changed.status, changed.body.contextWindow]).to.equal([200, 9000]);
    const plain = { ...large({ name: 'plain' }), orgId: undefined };
    expect((await olga.ask('POST', '/api/models', plain)).status).to.equal(403);
    await root.ask('POST', '/api/models', plain);
    // A read-only field, which must not make the call one of the organization.
    for (const body of [{ enabled: false }, { enabled: false, orgId }]) {
      const { status } = await olga.ask('PATCH', pathOf('plain'), body);
      expect([403, 404]).to.include(status);
    }
    expect((await olga.ask('DELETE', pathOf('plain'))).status).to.equal(403);
    expect((await olga.ask('POST', `${pathOf(NAME)}/default`)).status).to.equal(403);
    expect((await root.ask('GET', pathOf('plain'))).body.enabled).to.be.true();
    await root.ask('DELETE', pathOf('plain'));
  });

  it('have names that begin with its slug, and no others have', async () => {
    for (const name of ['large', 'other/large', 'acme', 'ACME/large']) {
      const fault = await faultOf(olga, 'POST', '/api/models', large({ name }));
      expect(fault, name).to.equal([400, 'name']);
    }
    expect(await faultOf(olga, 'POST', '/api/models', large())).to.equal([409, 'name_taken']);
    const ofAll = large({ name: 'acme/taken', orgId: undefined });
    expect(await faultOf(root, 'POST', '/api/models', ofAll)).to.equal([400, 'name']);
    // An organization that is not approved takes no names from the installation.
    await eve.ask('POST', '/api/orgs', { slug: 'openai', name: 'Not approved' });
    const free = { ...large(), orgId: undefined, name: 'openai/gpt' };
    expect((await root.ask('POST', '/api/models', free)).status).to.equal(201);
    expect((await root.ask('DELETE', pathOf('openai/gpt'))).status).to.equal(204);
  });

  it('use no program, file or route of the installation', async () => {
    for (const [path, more] of [
      ['provider', { provider: 'cli', modelId: 'claude', baseUrl: null, apiKey: undefined }],
      ['provider', { provider: 'llama', modelId: 'small', baseUrl: null, apiKey: undefined }],
      ['topics', { topics: ['triage'] }],
      ['embedding', { embedding: { dimensions: 3 } }],
      ['supports.transcription', { supports: { transcription: true } }],
    ] as const) {
      const model = large({ ...more, name: 'acme/odd' });
      expect(await faultOf(olga, 'POST', '/api/models', model), path).to.equal([400, path]);
      const { orgId: _, name, ...changes } = model;
      expect(await faultOf(olga, 'PATCH', pathOf(NAME), changes), path).to.equal([400, path]);
    }
  });

  it('reach no private address', async () => {
    const fault = [400, 'baseUrl'];
    for (const more of [
      { baseUrl: root.model.baseUrl },
      { baseUrl: 'http://169.254.169.254/v1' },
      { baseUrl: 'http://gateway.local/v1' },
      // By default at port 11434 of this machine.
      { provider: 'ollama', baseUrl: null },
    ]) {
      const model = large({ ...more, name: 'acme/near' });
      expect(await faultOf(olga, 'POST', '/api/models', model)).to.equal(fault);
      const { orgId: _, name, ...changes } = model;
      expect(await faultOf(olga, 'PATCH', pathOf(NAME), changes)).to.equal(fault);
      const { provider, modelId, baseUrl } = { ...large(), ...more };
      const trial = { orgId, provider, modelId, baseUrl };
      expect(await faultOf(olga, 'POST', '/api/models/test', trial)).to.equal(fault);
    }
    // As if its name resolved to this machine: the guard applies to each call.
    const { db } = root.app.store;
    const moveTo = async (base_url: string) => {
      await db.updateTable('models').set({ base_url }).where('name', '=', NAME).execute();
      await inside(root.app).registry.refresh();
    };
    await moveTo(root.model.baseUrl);
    const before = root.model.asked.length;
    const { body } = await olga.ask('POST', `${pathOf(NAME)}/test`);
    expect(body.ok).to.be.false();
    expect(body.error).to.contain('127.0.0.1 is refused');
    expect(root.model.asked.length).to.equal(before);
    await moveTo(theirs.baseUrl);
    await olga.ask('PATCH', pathOf(NAME), { enabled: true });
  });

  it('answer the agents of the organization with its key', async () => {
    const { id } = await max.spawn({ prompt: 'Say it', model: NAME, orgId });
    expect((await max.reaches(id)).result).to.equal('Of acme.');
    expect(theirs.asked[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    expect(await resultOf(max, { orgId })).to.equal('Of all.');
    const { body } = await max.ask('GET', `/api/models/usage?orgId=${orgId}`);
    const [spent] = body.usage.filter(({ key }: { key: string }) => key === NAME);
    expect([spent.calls, spent.inputTokens, spent.costUsd]).to.equal([1, 10, 0.0001]);
    for (const who of [max, eve]) {
      expect((await who.ask('GET', '/api/models/usage')).text).not.to.contain(NAME);
    }
    expect((await eve.ask('GET', `/api/models/usage?orgId=${orgId}`)).status).to.equal(404);
  });

  it('are tested by owners and admins, and their health is for members', async () => {
    theirs.script(says({ text: 'ok' }), says({ text: 'ok' }));
    const { body } = await olga.ask('POST', `${pathOf(NAME)}/test`);
    expect([body.ok, body.reply]).to.equal([true, 'Of acme.']);
    expect(await faultOf(max, 'POST', `${pathOf(NAME)}/test`, {})).to.equal([403, 'org_role']);
    const health = await max.ask('GET', `/api/models/health?orgId=${orgId}`);
    const [first] = health.body.providers;
    expect([first.model, first.status]).to.equal([NAME, 'up']);
    expect((await max.ask('GET', `/api/models/health?check=true&orgId=${orgId}`)).status)
      .to //
      .equal(403);
    const asked = root.model.asked.length;
    expect((await olga.ask('GET', `/api/models/health?check=true&orgId=${orgId}`)).status)
      .to //
      .equal(200);
    expect(root.model.asked.length).to.equal(asked);
    const trial = { provider: 'openai-compatible', modelId: 'fake-1', baseUrl: theirs.baseUrl };
    expect((await olga.ask('POST', '/api/models/test', { ...trial, orgId })).body.ok).to.be.true();
    expect((await olga.ask('POST', '/api/models/test', trial)).status).to.equal(403);
  });

  it('fail without their address for plain members, and are not tested without an approval', async () => {
    const healthOf = async (who: Stage) =>
      (await who.ask('GET', `/api/models/health?orgId=${orgId}`)).body.providers[0].lastError;
    const { host } = new URL(theirs.baseUrl);
    const failure = new ModelFailure('refused_connection', `${host} did not reply`);
    inside(root.app).modelHealth.failed(NAME, failure);
    expect(await healthOf(olga)).to.equal(`${host} did not reply`);
    expect(await healthOf(max)).to.equal('… did not reply');
    const { body } = await max.ask('GET', pathOf(NAME));
    expect(body.health.lastError).to.equal('… did not reply');
    const approve = (approved: boolean) =>
      root.ask('PATCH', `/api/admin/orgs/${orgId}`, { approved });
    await approve(false);
    expect(await faultOf(olga, 'GET', `/api/models/health?check=true&orgId=${orgId}`)).to.equal([
      ...[409, 'org_not_approved'],
    ]);
    expect(theirs.asked.length).to.equal(0);
    await approve(true);
  });

  it('can be named for everything of the organization, and for nothing else', async () => {
    const hook = (agentModel: string) => ({
      ...{ name: `of ${agentModel}`, trigger: 'schedule', triggerConfig: { cron: '0 2 * * *' } },
      ...{ action: 'spawn_agent', actionConfig: { agentPrompt: 'Say it', agentModel } },
    });
    const stages = (model: string) => [
      { key: 'say', kind: 'agent', config: { prompt: 'Say', model } },
    ];
    const yaml = (model: string) => `name: of yaml\nstages: ${JSON.stringify(stages(model))}\n`;
    const { id: taskId } = (await olga.ask('POST', '/api/tasks', { title: 'Say it' })).body;
    const shared = await olga.ask('POST', '/api/tasks', { title: 'Say it', orgId });
    const expert = { name: 'sayer', description: 'Says', instructions: 'Say it.' };
    const calls: [path: string, field: string, body: (model: string) => object][] = [
      ['/api/agents', 'model', (model) => ({ prompt: 'Say it', model })],
      ['/api/chat', 'model', (model) => ({ message: 'Say it', model })],
      ['/api/experts', 'model', (model) => ({ ...expert, model })],
      ['/api/hooks', 'actionConfig.agentModel', hook],
      [
        '/api/pipelines/templates',
        'stages.0.config.model',
        (model) => ({ name: `of ${model}`, stages: stages(model) }),
      ],
      [
        '/api/recurring-tasks',
        'actionConfig.agentModel',
        (model) => {
          const { action, actionConfig } = hook(model);
          return { title: 'Say it', schedule: { cron: '0 9 * * 1' }, action, actionConfig };
        },
      ],
      [
        '/api/research/start',
        'model',
        (model) => ({ question: 'Who?', sources: ['knowledge'], model }),
      ],
      ['/api/reader/read', 'model', (model) => ({ url: 'http://nowhere.invalid/', model })],
    ];
    for (const [path, field, body] of calls) {
      for (const [who, ofOrg] of [
        [olga, {}],
        [eve, {}],
        [eve, { orgId: otherId }],
        [root, {}],
      ] as const) {
        const refused = await who.ask('POST', path, { ...body(NAME), ...ofOrg });
        const unknown = await who.ask('POST', path, { ...body('acme/none'), ...ofOrg });
        const details = refused.body.details?.map((each: { path: string }) => each.path);
        expect([refused.status, details], path).to.equal([400, [field]]);
        expect(refused.body.message, path).to.equal(unknown.body.message);
        expect(refused.text, path).not.to.contain('acme');
      }
      const { status, text } = await olga.ask('POST', path, { ...body(NAME), orgId });
      expect(status, `${path} ${text}`).to.be.below(300);
    }
    const delegate = (id: string) => `/api/tasks/${id}/delegate`;
    expect(await faultOf(olga, 'POST', delegate(taskId), { model: NAME })).to.equal([400, 'model']);
    const given = await olga.ask('POST', delegate(shared.body.id), { model: NAME });
    expect(given.status, given.text).to.equal(202);
    const imported = (query: string) =>
      root.call('POST', `/api/pipelines/templates/import${query}`, {
        ...{ token: olga.token, body: yaml(NAME), type: 'application/yaml' },
      });
    expect((await imported('')).status).to.equal(400);
    expect((await imported(`?orgId=${orgId}`)).status).to.equal(201);
  });

  it('answer for hooks, experts, stages, research and chats of the organization', async () => {
    const { body: hooks } = await olga.ask('GET', `/api/hooks?orgId=${orgId}`);
    const fired = await olga.ask('POST', `/api/hooks/${hooks.hooks[0].id}/test`, { payload: {} });
    expect(fired.status, fired.text).to.equal(202);
    const { body: templates } = await olga.ask('GET', `/api/pipelines/templates?orgId=${orgId}`);
    const named = templates.templates.find(({ name }: { name: string }) => name === `of ${NAME}`);
    await max.ask('POST', '/api/pipelines', { templateId: named.id });
    const { body: experts } = await olga.ask('GET', `/api/experts?orgId=${orgId}`);
    const expertId = experts.experts.find(({ name }: { name: string }) => name === 'sayer').id;
    await max.spawn({ prompt: 'Say it', expertId, orgId });
    await max.ask('POST', '/api/chat?wait=0', { message: 'Say it', model: NAME, orgId });
    await until(
      async () => theirs.asked.length,
      (count) => count >= 4,
    );
    const { agents } = (await max.ask('GET', `/api/agents?orgId=${orgId}&limit=4`)).body;
    const models = agents.map(({ model }: { model: string }) => model);
    expect(models).to.equal([NAME, NAME, NAME, NAME]);
  });

  it('are never the default, and no route or fallback of the installation', async () => {
    const { body } = await root.ask('GET', '/api/models/routing');
    expect(body).to.equal({ default: 'fake', topics: [] });
    for (const routing of [
      { default: NAME },
      { topics: [{ topic: 'triage', primary: NAME }] },
      { topics: [{ topic: 'triage', primary: 'fake', fallbacks: [NAME] }] },
    ]) {
      const { status, text } = await root.ask('PUT', '/api/models/routing', routing);
      expect([status, text.includes('acme')]).to.equal([400, false]);
    }
    const model = large({ name: 'plain', orgId: undefined, fallbacks: [NAME] });
    const refused = await root.ask('POST', '/api/models', model);
    expect([refused.status, refused.text.includes('acme')]).to.equal([400, false]);
    expect((await root.ask('GET', '/api/doctor')).text).not.to.contain('acme');
    const offered = await root.ask('GET', '/api/models/providers/litellm/models');
    expect(offered.text).not.to.contain(theirs.baseUrl);
  });

  it('fall back to those that the organization names', async () => {
    const second = large({ name: 'acme/second', fallbacks: [NAME] });
    expect((await olga.ask('POST', '/api/models', second)).status).to.equal(201);
    await olga.ask('PATCH', pathOf('acme/second'), { enabled: false });
    expect(await resultOf(max, { model: NAME, orgId })).to.equal('Of acme.');
    const { candidates } = { candidates: inside(root.app).models };
    const of = { userId: orgId, model: 'acme/second', topic: null, isUntrusted: false };
    expect(candidates.first(of)?.name).to.equal(NAME);
    expect(candidates.first({ ...of, userId: otherId })?.name).to.equal('fake');
    await olga.ask('DELETE', pathOf('acme/second'));
  });

  it('use credentials of its vault alone', async () => {
    const credential = { name: 'model-key', value: 'sk-of-the-vault', type: 'api_key' };
    const own = (await olga.ask('POST', '/api/vault', credential)).body.id;
    const shared = (await olga.ask('POST', '/api/vault', { ...credential, orgId })).body.id;
    const change = (credentialId: string) => faultOf(olga, 'PATCH', pathOf(NAME), { credentialId });
    expect(await change(own)).to.equal([400, 'credentialId']);
    expect((await change(shared))[0]).to.equal(200);
    expect(await resultOf(max, { model: NAME, orgId })).to.equal('Of acme.');
    expect(theirs.asked[0]?.headers.authorization).to.equal('Bearer sk-of-the-vault');
    const used = await olga.ask('DELETE', `/api/vault/${shared}`);
    expect([used.status, used.text.includes(NAME)]).to.equal([409, true]);
    const token = (await makeToken(root, olga.token)).token;
    const sent = { token, body: { credentialId: shared } };
    const delegated = await root.call('PATCH', pathOf(NAME), sent);
    expect([delegated.status, delegated.body.code]).to.equal([403, 'personal_only']);
    const elsewhere = { token, body: { baseUrl: 'https://models.example.org/v1' } };
    const moved = await root.call('PATCH', pathOf(NAME), elsewhere);
    expect([moved.status, moved.body.code]).to.equal([403, 'personal_only']);
    const seen = (await max.ask('GET', pathOf(NAME))).body;
    expect([seen.credentialId, seen.apiKeySet]).to.equal([null, true]);
  });

  it('are recorded in the audit log of the organization', async () => {
    const { entries } = (await olga.ask('GET', `/api/orgs/${orgId}/audit?limit=200`)).body;
    const made = entries.findLast(({ action }: { action: string }) => action === 'models.create');
    expect([made.target, made.data.orgId, made.data.apiKey]).to.equal([NAME, orgId, 'given']);
    expect(JSON.stringify(entries)).not.to.contain(KEY);
  });

  it('are lost by a member who leaves', async () => {
    await max.ask('DELETE', `/api/orgs/${orgId}/members/${max.userId}`);
    expect((await max.ask('GET', pathOf(NAME))).status).to.equal(404);
    expect(await namesOf(max)).to.equal(['fake', 'digest']);
    expect((await max.ask('POST', '/api/agents', { prompt: 'Say', model: NAME, orgId })).status)
      .to //
      .equal(404);
  });

  it('are deleted with the organization, also if its resources are transferred', async () => {
    const password = PASSWORD;
    const remove = (more: object) =>
      olga.ask('DELETE', `/api/orgs/${orgId}`, { slug: 'acme', password, ...more });
    expect((await remove({})).body.details[0].path).to.equal('resources');
    const removed = await remove({ resources: 'transfer' });
    expect(removed.status, removed.text).to.equal(204);
    expect(await namesOf(olga)).to.equal(['fake', 'digest']);
    const rows = await root.app.store.db.selectFrom('models').select('name').execute();
    expect(rows).to.equal([]);
    const anew = await newOrg(eve, 'acme');
    const made = await eve.ask('POST', '/api/models', large({ orgId: anew }));
    expect([made.status, made.body.health.status]).to.equal([201, 'unknown']);
    expect(await resultOf(eve, { model: NAME, orgId: anew })).to.equal('Of acme.');
  });
});
