import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PATH = '/api/pipelines/templates';
const stage = { key: 'draft', kind: 'agent', config: { prompt: 'Write about {{params.what}}' } };
const body = {
  name: 'Notes',
  parameters: [{ key: 'what', type: 'string', required: true }],
  stages: [stage],
};
const YAML = `name: From YAML
stages:
  - key: now
    kind: tool
    config: { toolId: time, toolAction: now }
  - key: ask
    kind: approval
    needs: [now]
    config:
      message: "It is {{stages.now.output}}"
`;

describe('templates of pipelines', () => {
  let app: TestApp;
  let ada: string;
  let eve: string;
  before(async () => {
    app = await startApp();
    ada = (await app.register('ada')).token;
    eve = (await app.register('eve')).token;
  });
  after(() => app.stop());

  const call = (method: string, path: string, given?: unknown, token = ada) =>
    app.call(method, `${PATH}${path}`, { token, body: given });
  const sendYaml = (path: string, text: string, type = 'application/yaml') =>
    app.call('POST', `${PATH}${path}`, { token: ada, body: text, type });
  const create = async (name: string, token = ada): Promise<string> =>
    (await call('POST', '', { ...body, name }, token)).body.id;

  it('are created with what they leave out filled in', async () => {
    const { status, body: made } = await call('POST', '', body);
    expect(status).to.equal(201);
    const { id, createdAt, updatedAt, ...rest } = made;
    expect(id).to.match(/^template_/);
    expect(updatedAt).to.equal(createdAt);
    expect(rest).to.equal({
      ...body,
      orgId: null,
      description: null,
      stages: [{ ...stage, name: 'draft', needs: [] }],
      limits: { maxSeconds: 3600, maxTokens: 2_000_000, maxCostUsd: 5 },
      onFinish: { notifyOwner: true },
      preset: false,
      version: 1,
    });
    expect((await call('GET', `/${id}`)).body).to.equal(made);
    const again = await call('POST', '', body);
    expect([again.status, again.body.code]).to.equal([409, 'name_taken']);
  });

  it('name experts that exist, and can be changed otherwise once an expert is deleted', async () => {
    const expert = { name: 'note-writer', description: 'Writes notes', instructions: 'Write.' };
    const { id: expertId } = (await app.call('POST', '/api/experts', { token: ada, body: expert }))
      .body;
    const stages = [{ ...stage, config: { ...stage.config, expertId } }];
    const made = await call('POST', '', { ...body, name: 'With an expert', stages });
    expect(made.status).to.equal(201);
    const deleted = await app.call('DELETE', `/api/experts/${expertId}`, { token: ada });
    expect(deleted.status).to.equal(204);
    const at = `/${made.body.id}`;
    expect((await call('PUT', at, { limits: { maxTokens: 1000 } })).status).to.equal(200);
    const refused = await call('PUT', at, { stages });
    expect([refused.status, refused.body.details[0].path]).to.equal([
      400,
      'stages.0.config.expertId',
    ]);
  });

  it('are refused with the path of each fault', async () => {
    const stages = [
      { ...stage, needs: ['x'] },
      { ...stage, key: 'draft' },
    ];
    const { status, body: refused } = await call('POST', '', { ...body, name: 'Bad', stages });
    expect(status).to.equal(400);
    expect(refused.details.map(({ path }: { path: string }) => path)).to.equal([
      'stages.0.needs.0',
      'stages.1.key',
    ]);
  });

  it('are changed in part, each change a version, and not over a change of another', async () => {
    const id = await create('Changing');
    const changed = await call('PUT', `/${id}`, { description: 'More', limits: { maxCostUsd: 1 } });
    expect(changed.body).to.include({ description: 'More', version: 2, name: 'Changing' });
    expect(changed.body.limits).to.equal({ maxSeconds: 3600, maxTokens: 2_000_000, maxCostUsd: 1 });
    const late = await call('PUT', `/${id}`, { description: 'Late', version: 1 });
    expect([late.status, late.body.code]).to.equal([409, 'changed']);
    const both = await Promise.all(
      ['a', 'b'].map((description) => call('PUT', `/${id}`, { description, version: 2 })),
    );
    expect(both.map(({ status }) => status).sort()).to.equal([200, 409]);
    expect((await call('GET', `/${id}`)).body.version).to.equal(3);
    const bad = await call('PUT', `/${id}`, { parameters: [] });
    expect([bad.status, bad.body.details[0].path]).to.equal([400, 'stages.0.config.prompt']);
  });

  it('are listed before those that ship, page by page', async () => {
    const { body: all } = await call('GET', '');
    const ids = all.templates.map(({ id }: { id: string }) => id);
    expect(ids.filter((id: string) => id.startsWith('preset_'))).to.equal(ids.slice(-5));
    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await call('GET', `?limit=2${cursor && `&cursor=${cursor}`}`);
      paged.push(...page.body.templates.map(({ id }: { id: string }) => id));
      cursor = page.body.nextCursor;
    }
    expect(paged).to.equal(ids);
    const named = await call('GET', '?name=Changing');
    expect(named.body.templates).to.have.length(1);
    expect((await call('GET', '?preset=true')).body.templates).to.have.length(5);
  });

  it('that ship stay as they are', async () => {
    for (const [method, given] of [
      ['PUT', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      const { status, body: refused } = await call(method, '/preset_release_notes', given);
      expect([status, refused.code]).to.equal([409, 'preset']);
    }
    expect((await call('GET', '/preset_release_notes')).body.preset).to.be.true();
  });

  it('are nobody else’s', async () => {
    const id = await create('Secret', eve);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/graph'],
      ['PUT', ''],
      ['DELETE', ''],
    ]) {
      const given = method === 'PUT' ? { name: 'Stolen' } : undefined;
      expect((await call(`${method}`, `/${id}${path}`, given)).status).to.equal(404);
    }
    expect((await call('GET', '?name=Secret')).body.templates).to.equal([]);
    expect((await call('DELETE', `/${id}`, undefined, eve)).status).to.equal(204);
    expect((await call('GET', `/${id}`, undefined, eve)).status).to.equal(404);
  });

  it('come as YAML and go as YAML', async () => {
    const made = await sendYaml('/import', YAML);
    expect([made.status, made.body.name]).to.equal([201, 'From YAML']);
    const yaml = await call('GET', `/${made.body.id}?format=yaml`);
    expect(yaml.headers['content-type']).to.equal('application/yaml');
    const renamed = yaml.text.replace('From YAML', 'Copied');
    const { body: copy } = await sendYaml('/import', renamed);
    expect(copy.stages).to.equal(made.body.stages);
    const bad = await sendYaml('/import', YAML.replace('[now]', '[then]'));
    expect([bad.status, bad.body.details[0]]).to.equal([
      400,
      { path: 'stages.1.needs.0', message: 'refers to an unknown stage: then (line 8)' },
    ]);
    expect((await sendYaml('/import', YAML, 'text/plain')).status).to.equal(415);
  });

  it('are checked without being kept', async () => {
    const { body: good } = await sendYaml('/validate', YAML.replace('From YAML', 'Unkept'));
    expect([good.valid, good.problems, good.template.name]).to.equal([true, [], 'Unkept']);
    const bad = await sendYaml(
      '/validate',
      '{"name": "x", "stages": [{"key": "A"}]}',
      'application/json',
    );
    expect(bad.body.valid).to.be.false();
    expect(
      bad.body.problems.map(({ path, line }: { path: string; line: number }) => [path, line]),
    ).to.equal([
      ['stages.0.key', 1],
      ['stages.0.kind', 1],
      ['stages.0.config', 1],
    ]);
    expect((await call('GET', '?name=Unkept')).body.templates).to.equal([]);
  });

  it('are shown as a graph', async () => {
    const stages = [
      { ...stage, key: 'end', name: 'The "end" <b>' },
      { ...stage, key: 'b', needs: ['end'], runIf: 'always', onError: { goto: 'end' } },
    ];
    const { body: made } = await call('POST', '', { ...body, name: 'Graph', stages });
    const { text, headers } = await call('GET', `/${made.id}/graph`);
    expect(headers['content-type']).to.contain('text/plain');
    expect(text.split('\n')).to.equal([
      'flowchart TD',
      '  s0["The #34;end#34; #60;b#62; (agent)"]',
      '  s1["b (agent)"]',
      '  s0 -->|always| s1',
      '  s1 -.->|on error| s0',
      '',
    ]);
  });

  it('grant tools by the person alone', async () => {
    const granting = { ...stage, config: { prompt: 'x', tools: ['http.request'] } };
    const acting = {
      key: 'send',
      kind: 'http',
      config: { method: 'POST', url: 'https://example.org/' },
      allowUntrusted: true,
    };
    const { body: token } = await app.call('POST', '/api/auth/tokens', {
      token: ada,
      body: { name: 'script', scopes: ['pipelines:write', 'pipelines:read'] },
    });
    for (const [at, each] of [granting, acting].entries()) {
      const given = { name: `Grants ${at}`, stages: [each] };
      const refused = await call('POST', '', given, token.token);
      expect([refused.status, refused.body.code]).to.equal([403, 'approval_right_missing']);
      const { status, body: made } = await call('POST', '', given);
      expect(status).to.equal(201);
      const harmless = await call('PUT', `/${made.id}`, { description: 'x' }, token.token);
      expect(harmless.status).to.equal(200);
      const other = {
        ...each,
        config: {
          ...each.config,
          ...(at === 0 ? { prompt: 'y' } : { url: 'https://evil.example/' }),
        },
      };
      const turned = await call('PUT', `/${made.id}`, { stages: [other] }, token.token);
      expect(turned.status).to.equal(403);
      const parameters = [{ key: 'url', type: 'string', default: 'https://evil.example/' }];
      const led = await call('PUT', `/${made.id}`, { parameters }, token.token);
      expect(led.status).to.equal(403);
    }
  });
});
