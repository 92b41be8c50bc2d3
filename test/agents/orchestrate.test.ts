import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type Reply, refuses } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { type Agent, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SECRET = 'a secret of some length';
const PAYLOAD = '{"action":"opened","issue":{"title":"It does not start"}}';

type Run = Agent & {
  name: string;
  role: string;
  prompt: string;
  untrusted: boolean;
  parentId: string | null;
  hookId: string | null;
  topic: string | null;
  model: string;
};

const isChoosing = ({ system }: Read): boolean => system.startsWith('Choose the expert');

describe('an orchestrated run', () => {
  let stage: Stage;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
  before(async () => {
    stage = await startStage();
    stage.model.script(...mind((read) => think(read)));
  });
  after(() => stage.stop());

  const subs = async (id: string): Promise<Run[]> => {
    const { body } = await stage.ask('GET', `/api/agents?rootId=${id}`);
    return body.agents.filter((agent: Agent) => agent.id !== id).reverse();
  };
  const choiceOf = async (id: string) => {
    const events = await stage.events(id);
    return events.find(({ data }) => data.chosenBy !== undefined)?.data;
  };

  it('chooses an expert by a model, delegates the task to it and reports', async () => {
    let question = '';
    let offered: string[] = [];
    think = (read) => {
      if (isChoosing(read)) {
        question = read.task;
        return { text: '**engineer** - it is about a failing build' };
      }
      if (read.system.includes('You coordinate')) return { text: `Report. ${read.results[0]}` };
      offered = read.tools;
      return { text: 'Fixed it.' };
    };
    const { id } = await stage.spawn({ prompt: 'The build fails', orchestrated: true });
    const root = await stage.reaches(id);
    const [engineer, ...others] = await subs(id);
    expect(others).to.equal([]);
    expect(engineer).to.include({ role: 'engineer', prompt: 'The build fails', parentId: id });
    expect(engineer).to.include({ topic: 'engineer', model: 'fake', status: 'completed' });
    expect(root).to.include({ role: 'orchestrator', steps: 2 });
    expect(root.result).to.equal(
      `Report. Reply of ${engineer?.name} (${engineer?.id}):\n\nFixed it.`,
    );
    expect(question).to.match(/^Experts:\ntriage: [^\n]+\nengineer: /);
    expect(question).to.endWith('\n\nTask:\nThe build fails');
    expect(offered).to.contain(['shell_run', 'files_write', 'http_request', 'agents_delegate']);
    expect(await choiceOf(id)).to.equal({
      role: 'assistant',
      content: 'Expert engineer chosen: it is about a failing build',
      expert: { id: 'engineer', name: 'engineer' },
      chosenBy: 'model',
      because: 'it is about a failing build',
      step: 1,
      model: 'fake',
    });
  });

  it('has every tool, though its expert has few of its own', async () => {
    let offered: string[] = [];
    think = (read) => {
      if (isChoosing(read)) return { text: 'writer' };
      if (!read.system.includes('You coordinate')) offered = read.tools;
      return { text: 'Written.' };
    };
    const { id } = await stage.spawn({ prompt: 'A letter', orchestrated: true });
    await stage.reaches(id);
    const all = inside(stage.app)
      .toolbox.of(stage.userId)
      .list()
      .map((tool) => `${tool.skillId}_${tool.name}`);
    const off = inside(stage.app)
      .toolbox.of(stage.userId)
      .list()
      .filter((tool) => tool.unavailable !== null);
    expect(offered.length).to.equal(all.length - off.length);
    expect((await choiceOf(id))?.because).to.equal('no reason given');
  });

  it('does what a webhook brings in the very words of its hook, untrusted all the way', async () => {
    think = (read) =>
      isChoosing(read) ? { text: 'triage - an issue came in' } : { text: `Sorted: ${read.task}` };
    const { body: hook } = await stage.ask('POST', '/api/hooks', {
      name: 'issues',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'issues', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Sort it', orchestrated: true, agentTools: ['http'] },
    });
    const headers = { 'x-hub-signature-256': sign(SECRET, PAYLOAD), 'x-github-event': 'issues' };
    const sent = await stage.call('POST', '/api/webhooks/issues', { body: PAYLOAD, headers });
    const executionId = sent.body.executions[0];
    const [root] = await until(
      async () =>
        (await stage.ask('GET', `/api/agents?executionId=${executionId}`)).body.agents as Run[],
      (all) => all[0]?.status === 'completed',
    );
    const exactly = `Sort it\n\n--- Webhook Payload ---\n${PAYLOAD}\nEvent type: issues`;
    const [triage] = await subs(root?.id ?? '');
    expect(root).to.include({ prompt: exactly, untrusted: true });
    expect(triage).to.include({
      prompt: exactly,
      untrusted: true,
      hookId: hook.id,
      role: 'triage',
    });
    expect(triage?.result).to.equal(`Sorted: ${exactly}`);
    const row = await inside(stage.app).rows.byId(triage?.id ?? '');
    expect(row).to.include({ tools: '["http"]', execution_id: null, notify_owner: 0 });
    const { body: runs } = await stage.ask('GET', `/api/hooks/${hook.id}/executions`);
    expect(runs.executions[0]).to.include({ status: 'success', agentId: root?.id });
  });

  it('goes by keywords where the model names nobody', async () => {
    think = (read) => (isChoosing(read) ? { text: 'Whoever you like.' } : { text: 'Done.' });
    const { id } = await stage.spawn({ prompt: 'Translate the README', orchestrated: true });
    await stage.reaches(id);
    expect((await subs(id))[0]?.role).to.equal('writer');
    const { chosenBy, because } = (await choiceOf(id)) ?? {};
    expect([chosenBy, because]).to.equal(['keywords', 'in the task: readme, translate']);
  });

  it('goes by keywords, and reports what its expert said, where only the digest is left', async () => {
    think = (read) =>
      read.system.startsWith('You are an agent') && !read.system.includes('You coordinate')
        ? { text: 'The expert had a model.' }
        : refuses(500);
    const { id } = await stage.spawn({ prompt: 'Deploy the release', orchestrated: true });
    const root = await stage.reaches(id);
    const [sub] = await subs(id);
    expect(sub?.role).to.equal('operations');
    const choice = await choiceOf(id);
    expect(choice).to.include({ chosenBy: 'keywords', model: 'digest' });
    expect(choice?.because).to.equal('in the task: deploy, release');
    expect([root.status, root.result]).to.equal(['completed', sub?.result]);
  });

  it('goes by the owner, asking no model, where an expert is named', async () => {
    let asked = 0;
    think = (read) => {
      if (isChoosing(read)) asked++;
      return { text: 'Done.' };
    };
    const { id } = await stage.spawn({
      prompt: 'Anything',
      orchestrated: true,
      expertId: 'analyst',
    });
    const root = await stage.reaches(id);
    expect([asked, root.steps, (await subs(id))[0]?.role]).to.equal([0, 1, 'analyst']);
    expect(await choiceOf(id)).to.include({ chosenBy: 'owner', because: 'named by the owner' });
  });

  it('plays the part itself where nothing may be delegated', async () => {
    think = (read) =>
      isChoosing(read) ? { text: 'engineer - code' } : { text: read.system.split('\n').at(-7) };
    const limits = { maxDepth: 0 };
    const { id } = await stage.spawn({ prompt: 'Code', orchestrated: true, limits });
    const root = await stage.reaches(id);
    expect(root.result).to.equal('You act as the expert "engineer":');
    expect(await subs(id)).to.equal([]);
  });

  it('is routed once: what is said later is for the agent itself', async () => {
    let chosen = 0;
    think = (read) => {
      if (isChoosing(read)) chosen++;
      return { text: 'triage' };
    };
    const { id } = await stage.spawn({ prompt: 'Sort', orchestrated: true });
    await stage.reaches(id);
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'And now?' });
    await until(
      () => stage.agent(id),
      ({ steps, status }) => steps === 3 && status === 'completed',
    );
    expect([chosen, (await subs(id)).length]).to.equal([1, 1]);
  });

  it('chooses among the owner’s own experts too, whose model and words count', async () => {
    const made = await stage.ask('POST', '/api/experts', {
      name: 'bookkeeper',
      description: 'Books invoices',
      instructions: 'Check every sum twice.',
      tools: ['time'],
    });
    expect(made.status).to.equal(201);
    let system = '';
    think = (read) => {
      if (isChoosing(read)) return { text: 'bookkeeper: an invoice' };
      if (read.system.includes('Check every sum')) system = read.system;
      return { text: 'Booked.' };
    };
    const { id } = await stage.spawn({ prompt: 'Invoice 12', orchestrated: true });
    await stage.reaches(id);
    expect((await subs(id))[0]?.role).to.equal('bookkeeper');
    expect(system.split('\n').slice(-3, -1)).to.equal([
      'You act as the expert "bookkeeper":',
      'Check every sum twice.',
    ]);
  });

  it('does not let the owner’s refusal of sub-agents end it', async () => {
    await stage.ask('PUT', '/api/skills/permissions', {
      skillId: 'agents',
      action: 'delegate',
      level: 'deny',
    });
    think = (read) => (isChoosing(read) ? { text: 'triage' } : { text: 'By myself.' });
    const { id } = await stage.spawn({ prompt: 'Sort', orchestrated: true });
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'By myself.' });
    await stage.ask('DELETE', '/api/skills/permissions/agents/delegate');
  });
});
