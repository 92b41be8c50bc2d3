import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openTarget, type Target } from '../harness/target.js';
import { openPipelineStage, type PipelineStage } from '../pipelines/stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const notify = (message: string): string =>
  `  - { key: say, kind: tool, config: { toolId: notify, toolAction: send, toolParams: { title: T, message: ${message} } } }\n`;

describe('templates of pipelines as people write them', () => {
  let stage: PipelineStage;
  let target: Target;
  before(async () => {
    target = await openTarget();
    stage = await openPipelineStage({ config: { egressAllow: [target.address] } });
  });
  after(async () => {
    await stage.stop();
    target.close();
  });

  const problemsOf = async (yaml: string): Promise<[number, string, string][]> => {
    const path = '/api/pipelines/templates/validate';
    const { token } = stage;
    const { body } = await stage.app.call('POST', path, {
      token,
      body: `name: Written\n${yaml}`,
      type: 'application/yaml',
    });
    return body.problems.map(({ line, path, message }: Record<string, string>) => [
      line,
      path,
      message,
    ]);
  };

  describe('numbers', () => {
    it('where a text is wanted are refused with their line and the remedy', async () => {
      expect(await problemsOf(`stages:\n${notify('2.50')}`)).to.equal([
        [3, 'stages.0.config.toolParams.message', 'must be a string. Put 2.50 in quotes'],
      ]);
      expect(await problemsOf(`stages:\n${notify('true')}`)).to.equal([
        [3, 'stages.0.config.toolParams.message', 'must be a string. Put true in quotes'],
      ]);
      const parameters = `parameters:
  - { key: v, type: string, default: 1.10 }
  - { key: w, type: choice, options: [1.10, "2"] }
stages:
${notify('"{{params.v}}"')}`;
      expect(await problemsOf(parameters)).to.equal([
        [4, 'parameters.1.options.0', 'must be a string. Put 1.10 in quotes'],
        [3, 'parameters.0.default', 'must be a string. Put 1.10 in quotes'],
      ]);
    });

    it('that lose their spelling are refused wherever any value may stand', async () => {
      const lost = (source: string, value: string) =>
        `would be changed to ${value}. Put ${source} in quotes to keep it as a string, or write ${value}`;
      const items = `stages:
  - key: each
    kind: foreach
    config:
      items: [2.50, 0042, 12e3, 7, "1.10", 0.5]
      stage: { kind: tool, config: { toolId: notify, toolAction: send, toolParams: { title: T, message: "{{item}}" } } }
`;
      expect((await problemsOf(items)).map(([, path, message]) => [path, message])).to.equal([
        ['stages.0.config.items.0', lost('2.50', '2.5')],
        ['stages.0.config.items.1', lost('0042', '42')],
        ['stages.0.config.items.2', lost('12e3', '12000')],
      ]);
      const body = `stages:
  - key: post
    kind: http
    config:
      method: POST
      url: "${target.url}/"
      body: { version: 2.50, deep: [{ code: 007 }], id: 9007199254740993, fine: 1.5 }
`;
      expect((await problemsOf(body)).map(([, path, message]) => [path, message])).to.equal([
        ['stages.0.config.body.version', lost('2.50', '2.5')],
        ['stages.0.config.body.deep.0.code', lost('007', '7')],
        [
          'stages.0.config.body.id',
          'would be changed to 9007199254740992. Put 9007199254740993 in quotes to keep it as a string',
        ],
      ]);
    });

    it('compared with a parameter of another type are refused', async () => {
      const compared = (value: string) => `parameters: [{ key: v, type: string, required: true }]
stages:
  - { key: s, kind: wait, when: [{ field: params.v, operator: equals, value: ${value} }], config: { seconds: 1 } }
`;
      const fault = 'must be a string, like the parameter v. Put';
      const path = 'stages.0.when.0.value';
      expect(await problemsOf(compared('2.50'))).to.equal([[4, path, `${fault} 2.50 in quotes`]]);
      expect(await problemsOf(compared('2'))).to.equal([[4, path, `${fault} 2 in quotes`]]);
      expect(await problemsOf(compared('"2.50"'))).to.equal([]);
    });

    it('may be written in any way where a number is wanted', async () => {
      const numbers = `parameters: [{ key: n, type: number, default: 2.50 }]
limits: { maxCostUsd: 2.50 }
stages:
  - { key: find, kind: tool, config: { toolId: web, toolAction: search, toolParams: { query: ferry, count: 1e1 } } }
  - { key: rest, kind: wait, config: { seconds: 1.0 } }
`;
      expect(await problemsOf(numbers)).to.equal([]);
    });
  });

  it('name every fault at once, each with its path', async () => {
    const faulty = `parameters: [{ key: who, type: choice }]
stages:
  - { key: first, kind: agent, config: { promt: Go } }
  - { key: second, kind: agent, config: { prompt: "{{stages.nobody.output}} {{params.whom}}" }, needs: [missing] }
  - { key: third, kind: wait, config: { seconds: 1 }, needs: [fourth] }
  - { key: fourth, kind: wait, config: { seconds: 1 }, needs: [third] }
  - { key: fifth, kind: pipeline, config: { templateId: template_none } }
  - { key: Sixth, kind: wait, config: { seconds: 1 } }
`;
    const paths = (await problemsOf(faulty)).map(([, path]) => path).sort();
    expect(paths).to.equal([
      'parameters.0.options',
      'stages.0.config.prompt',
      'stages.0.config.promt',
      'stages.1.config.prompt',
      'stages.1.config.prompt',
      'stages.1.needs.0',
      'stages.2.needs',
      'stages.4.config.templateId',
      'stages.5.key',
    ]);
  });

  describe('addresses', () => {
    const faultsOf = async (config: object, kind = 'http') => {
      const stages = [{ key: 'get', kind, config }];
      const { status, body } = await stage.call('POST', '/templates', {
        name: 'Addresses',
        stages,
      });
      if (status === 201) await stage.call('DELETE', `/templates/${body.id}`);
      return status === 201 ? [] : body.details.map(({ path }: { path: string }) => path);
    };
    const requested = (url: string) => faultsOf({ method: 'GET', url });

    it('that can never be requested are refused when they are saved', async () => {
      for (const url of [
        'file:///etc/passwd',
        'http://169.254.169.254/latest/meta-data/',
        'http://169.254.169.254/{{params.x}}',
        'http://[fd00:ec2::254]/',
        'http://10.0.0.1/',
        'not an address',
        'ftp://{{params.host}}/x',
        'http://user:word@example.org/',
        '/relative/{{params.x}}',
      ]) {
        expect((await requested(url))[0], url).to.equal('stages.0.config.url');
      }
      const item = { kind: 'http', config: { method: 'GET', url: 'file:///etc/passwd' } };
      expect(await faultsOf({ items: [1], stage: item }, 'foreach')).to.equal([
        'stages.0.config.stage.config.url',
      ]);
      const tool = { toolId: 'web', toolAction: 'read', toolParams: { url: 'file:///etc/passwd' } };
      expect(await faultsOf(tool, 'tool')).to.equal(['stages.0.config.toolParams.url']);
    });

    it('are taken if they may be, also where placeholders stand in them', async () => {
      for (const url of ['https://example.org/{{run.id}}', `${target.url}/a?b={{run.id}}`]) {
        expect(await requested(url), url).to.equal([]);
      }
      expect(await requested('{{run.id}}')).to.equal([]);
      expect(await requested('https://{{run.id}}.example.org/')).to.equal([]);
    });
  });

  describe('what is required', () => {
    const wait = { key: 'rest', kind: 'wait', config: { seconds: 0 } };

    it('is no empty text as a parameter', async () => {
      const parameters = [{ key: 'issue', type: 'text', required: true }];
      const template = { name: 'Required', parameters, stages: [wait] };
      const { id } = (await stage.call('POST', '/templates', template)).body;
      for (const issue of ['', ' \n', null]) {
        const { status, body } = await stage.call('POST', '', {
          templateId: id,
          params: { issue },
        });
        expect([status, body.details]).to.equal([
          400,
          [{ path: 'params.issue', message: 'is required' }],
        ]);
      }
      const started = await stage.call('POST', '', { templateId: id, params: { issue: 'x' } });
      expect(started.status).to.equal(201);
    });

    it('is no empty text as the input of a stage', async () => {
      const fields = [{ key: 'title', label: 'Title', type: 'string', required: true }];
      const id = await stage.start([
        { key: 'ask', kind: 'input', config: { message: 'Which?', fields } },
      ]);
      const { digest } = (await stage.reach(id, 'waiting')).stages[0] ?? {};
      const give = (title: string) =>
        stage.call('POST', `/${id}/stages/ask/input`, { digest, values: { title } });
      const refused = await give(' ');
      expect([refused.status, refused.body.details]).to.equal([
        400,
        [{ path: 'values.title', message: 'is required' }],
      ]);
      expect((await give('One')).status).to.equal(200);
      await stage.reach(id, 'completed');
    });
  });

  it('save what names the run and not a person, and keep a task untrusted', async () => {
    const tool = (toolId: string, toolAction: string, toolParams: object) => ({
      ...{ key: toolAction, kind: 'tool' as const },
      config: { toolId, toolAction, toolParams },
    });
    const { db } = stage.app.app.store;
    const letter = { title: 'Obey the letter' };
    const { id: task } = (
      await stage.app.call('POST', '/api/tasks', { token: stage.token, body: letter })
    ).body;
    await db.updateTable('tasks').set({ untrusted: 1 }).where('id', '=', task).execute();
    const run = await stage.start([
      tool('memory', 'save', { text: 'Likes tea' }),
      tool('tasks', 'create', { title: 'Buy tea' }),
      tool('tasks', 'update', { id: task, priority: 2 }),
    ]);
    await stage.reach(run, 'completed');
    const get = async (path: string) =>
      (await stage.app.call('GET', path, { token: stage.token })).body;
    const { memories } = await get('/api/memories');
    expect(memories).to.have.length(1);
    expect(memories[0]).to.include({ createdBy: run, confirmed: true });
    const { tasks } = await get('/api/tasks');
    const made = tasks.find(({ title }: { title: string }) => title === 'Buy tea');
    expect(made).to.include({ source: { kind: 'execution', id: run }, untrusted: false });
    expect(await get(`/api/tasks/${task}`)).to.include({ priority: 2, untrusted: true });
  });

  it('do no more at once than they say, also right after a start', async () => {
    await stage.app.restart();
    const held: (() => void)[] = [];
    target.answer = (response) => {
      held.push(() => response.end('ok'));
      if (held.length === 2) for (const reply of held.splice(0)) reply();
    };
    const item = {
      kind: 'http',
      allowUntrusted: true,
      config: { method: 'GET', url: `${target.url}/{{item}}` },
    };
    const items = Array.from({ length: 12 }, (_, at) => at);
    const id = await stage.start([
      { key: 'each', kind: 'foreach', config: { items, concurrency: 2, stage: item } },
    ]);
    await stage.reach(id, 'completed');
    const { pipelines } = (await stage.call('GET', `?parentId=${id}&limit=200`)).body;
    const spans: { startedAt: string; finishedAt: string }[] = pipelines;
    const atOnce = spans.map(
      ({ startedAt: at }) =>
        spans.filter((one) => one.startedAt <= at && at < one.finishedAt).length,
    );
    expect([spans.length, Math.max(...atOnce) <= 2]).to.equal([12, true]);
  });
});
