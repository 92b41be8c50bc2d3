import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../../src/client/session.js';
import { call, type Stage, startStage } from '../../agents/stage.js';
import { openConfig } from '../../cli/config.js';
import { until, untilMatches } from '../../harness/app.js';
import { type Conversation, startConversation } from '../../harness/conversation.js';
import { notice } from '../../harness/hooks.js';
import { says } from '../../harness/openai.js';
import { readingTime } from '../../harness/turns.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BIN = fileURLToPath(new URL('../../../../bin/adjutant.js', import.meta.url));
const EVIL = 'hello\u001b[2J\rworld';
/** Input typed before a question could be heard does not answer it. */
const HEARD_MS = 800;

const bells = (said: string): number => said.split('\u0007').length - 1;

describe('desk line by line', () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  let stage: Stage;
  let desk: Conversation;

  const open = (env: Record<string, string> = {}): Conversation =>
    startConversation({
      words: [BIN, 'tui', '--accessible'],
      env: {
        XDG_CONFIG_HOME: config.folder,
        ADJUTANT_URL: stage.url,
        ...env,
      },
    });
  /** An agent that requests approval of a call and continues after the decision. */
  const ask = async (name: string): Promise<string> => {
    const request = { method: 'POST', url: `${stage.model.baseUrl}/nowhere`, body: EVIL };
    stage.model.script(
      says({ text: 'I will ask first.', toolCalls: [call('http_request', request)] }),
      says({ text: 'Done as you said.' }),
    );
    const { id } = await stage.spawn({ prompt: 'Post hello', name });
    await stage.reaches(id, 'waiting_approval');
    return id;
  };
  const heard = () => readingTime(HEARD_MS);

  before(async () => {
    config = await openConfig();
    stage = await startStage();
    const login = { token: stage.token, username: 'owner', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(stage.url, login);
    await stage.ask('POST', '/api/hooks', notice({ name: 'issues' }));
    await stage.ask('POST', '/api/hooks', notice({ name: 'other', trigger: 'agent_completed' }));
    desk = open();
  });

  after(async () => {
    desk.signal('SIGKILL');
    await stage.stop();
    await config.close();
  });

  it('says who and where one is, how it stands, and what waits', async () => {
    const said = await desk.hears('quit to leave.');
    const where = stage.url.replace('http://', '');
    expect(said.split('\n').slice(0, 2)).to.equal([
      `Adjutant 0.1.0. You are owner, admin, at ${where}: live.`,
      'No pending approvals.',
    ]);
  });

  // The hardware is read first, because that takes long on a busy machine.
  it('opens each screen by its number and by its name', async () => {
    await stage.ask('GET', '/api/capabilities/hardware');
    for (const [number, [name, text]] of Object.entries([
      ['overview', 'Overview: Health, ok'],
      ['hooks', 'Hooks: 2 hooks.'],
      ['agents', 'No agents yet.'],
      ['approvals', 'No pending approvals.'],
      ['inbox', 'No notifications yet.'],
      ['vault', 'No credentials yet.'],
      ['models', 'Models: 2 models.'],
      ['tunnel', 'Only this machine can reach the daemon'],
      ['team', 'Tabs: users, audit, sessions, tokens, organizations. Type a name to switch.'],
      ['logs', 'Verbs: follow.'],
      ['knowledge', 'No entries yet.'],
      ['operations', 'No operations yet.'],
      ['tasks', 'No tasks here.'],
      ['pipelines', 'No pipeline runs yet.'],
      ['capabilities', 'Capabilities: CPU, '],
      ['mail', 'Tabs: messages, drafts, sent, accounts. Type a name to switch.'],
    ] as const)) {
      await desk.answers('menu', 'quit to leave.');
      await desk.answers(String(Number(number) + 1), text);
      await desk.answers(name, text);
    }
  });

  it('keeps a note, finds it, opens its chunk, and answers with citations', async () => {
    desk.say('knowledge\nadd\nThe staging server is argon.\n');
    await desk.hears('Saved: The staging server is argon.');
    await until(
      async () => (await stage.ask('GET', '/api/knowledge')).body.entries[0]?.status,
      (status) => status === 'ready',
    );
    const found = await desk.answers('find staging\n1', 'Matched   staging');
    expect(found).to.contain('Knowledge: 1 hit, ');
    // The hits have the verb "ask" too, and their last line may come after this one is typed.
    await desk.answers('open', 'Chunk: The staging server is argon.');
    desk.say('ask\nWhat is the staging server called?\n');
    const answer = await desk.hears('Type a number to open a row.');
    expect(answer).to.contain('Answer: What is the staging server called?');
    await until(
      async () => (await stage.ask('GET', '/api/operations')).body.operations[0]?.status,
      (status) => status === 'completed',
    );
    const operations = await desk.answers('operations', 'Type a number to open a row.');
    expect(operations).to.contain('state completed, title Indexing of');
    const all = await desk.answers('knowledge', 'Type a number to open a row.');
    expect(all).to.contain('Knowledge: 1 entry.\n1. The staging server is argon., from note, ');
  });

  it('tells of a stage that waits, and reads what it asks before it is approved', async () => {
    const stages = [
      { key: 'go', kind: 'approval', config: { message: 'Send the letter?' } },
      { key: 'send', kind: 'wait', config: { seconds: 0 }, needs: ['go'] },
    ];
    const { body: template } = await stage.ask('POST', '/api/pipelines/templates', {
      name: 'Letter',
      stages,
    });
    const { body: run } = await stage.ask('POST', '/api/pipelines', { templateId: template.id });
    await desk.hears('stage: Letter: go, waits for you');
    const rows = await desk.answers('pipelines', 'Type a number to open a row.');
    expect(rows).to.contain('1. state waiting, name Letter, stages 0/2, now go waits for approval');
    const opened = await desk.answers('1\nopen', '2. stage send, state pending');
    expect(opened).to.contain('Run: Letter, waiting, $0.00.');
    const asked = await desk.answers('approve', 'Type y to confirm');
    expect(asked).to.contain('Send the letter?');
    expect(asked).to.match(/Digest {3}[0-9a-f]{64}/);
    await heard();
    await desk.answers('y', 'Approved go of Letter');
    await until(
      async () => (await stage.ask('GET', `/api/pipelines/${run.id}`)).body.status,
      (status) => status === 'completed',
    );
  });

  it('numbers rows, opens one by number or name, and its parts by name', async () => {
    const rows = await desk.answers('hooks', 'Type a number to open a row.');
    expect(rows).to.contain('\n1. other, state enabled, last never, runs 0, ');
    expect(rows).to.contain('\n2. issues, state enabled, ');
    await desk.answers('2', 'Hook: issues, enabled, webhook to notify.');
    await desk.answers('settings', '/api/webhooks/issues');
    await desk.answers('back', 'Hooks: 2 hooks.');
    await desk.answers('hooks other', 'Hook: other, enabled, agent_completed to notify.');
  });

  it('acts on no row that was not named, and asks as the full desk does', async () => {
    await desk.answers('hooks', 'Type a number to open a row.');
    await desk.answers('disable', 'Which row?');
    await desk.answers('disable 1', 'other is disabled');
    for (const answer of ['', 'y', 'issues']) {
      await desk.answers('delete 1', 'Type other to confirm.');
      await desk.answers(answer, 'Nothing was done.');
    }
    await desk.answers('delete 1', 'Type other to confirm.');
    await desk.answers('other', 'other is deleted');
    const { body } = await stage.ask('GET', '/api/hooks');
    expect(body.hooks.map(({ name }: { name: string }) => name)).to.equal(['issues']);
  });

  it('tells who asks and rings, and takes no answer before the call could be heard', async () => {
    const before = bells(desk.all());
    desk.say('agents');
    const id = await ask('poster');
    await desk.hears(
      'poster requests approval: http.request, trusted, number 1. Type: approvals 1',
    );
    await untilMatches(async () => bells(desk.all()), before + 1);
    desk.say('approvals 1');
    // Verbs are announced for the list and for the call.
    const whole = await desk.hears('Without a decision it is denied');
    expect(whole).to.contain('  body      hello\\x1b[2J\\x0dworld\n');
    await desk.answers('approve 1\ny', 'The answer came before the question. Nothing was done.');
    expect((await stage.agent(id)).status).to.equal('waiting_approval');
    desk.say('approve');
    expect(await desk.hears('Type y to confirm')).to.contain('hello\\x1b[2J\\x0dworld');
    await heard();
    await desk.answers('y', 'approved: http.request');
    await stage.reaches(id, 'completed');
    await desk.hears('poster: completed');
    expect(bells(desk.all())).to.equal(before + 1);
  });

  it('follows what comes, and stands still by enter alone', async () => {
    await desk.answers('agents poster', 'Agent: poster, completed');
    await desk.answers('follow', 'Following.');
    await desk.answers('', 'Live output paused');
    stage.model.script(says({ text: 'You are welcome.' }));
    await desk.answers('message', 'An empty line sends the text');
    await desk.answers('Thanks\nindeed\n', 'Sent to poster');
    expect(desk.all()).to.not.contain('You are welcome.');
    await desk.answers('', 'You are welcome.');
    await desk.answers('transcript', 'indeed');
  });

  it('tells that the daemon is lost, and that it is back', async () => {
    const { port } = new URL(stage.url);
    await desk.answers('hooks', '1. issues');
    await stage.restart({ port: Number(port) });
    await desk.hears('Connection lost at ');
    await desk.hears('Connection restored at ');
    await desk.answers('test 1', 'Type y to confirm');
    await desk.answers('y', 'Started execution ');
    await desk.hears('issues: ');
  });

  it('tells only what needs somebody once that is wished', async () => {
    await desk.answers('tell off', 'Only events that need you are announced.');
    const id = await ask('second');
    await desk.hears('second requests approval: http.request, trusted, number 2.');
    expect(await desk.hears('number 2')).to.not.contain('second: running');
    await desk.answers('approvals', '2. expires in ');
    await desk.answers('deny 2', 'Type y to confirm');
    await heard();
    await desk.answers('y', 'denied: http.request');
    await stage.reaches(id, 'completed');
  });

  it('browses what has no screen, with the verbs of its contract', async () => {
    await desk.answers('browse sessions', 'Browse sessions.');
    await desk.answers('1', 'messageCount');
    desk.say('browse nothing');
    await desk.hears('browse needs one of: documents, research, memories, recurring');
  });

  it('answers words that there are not, whatever is in them', async () => {
    await desk.answers('frob\u001b[2J\u0007nicate', 'Unknown command: frob\\x1b[2J\\x07nicate.');
    await desk.answers('x'.repeat(1_000_000), 'Unknown command: xxx');
    await desk.answers('add', 'Not possible here now.');
    await desk.answers('hooks', 'Type a number to open a row.');
    await desk.answers('add', 'Run: adjutant hooks create');
  });

  it('has written nothing but lines and as many bells as there were questions', async () => {
    desk.say(':q');
    expect(await desk.ended).to.equal(0);
    expect(desk.all()).to.match(/^[^\u0000-\u0006\u0008\u0009\u000b-\u001f\u007f-\u009f]*$/);
    // Two calls, and a stage.
    expect(bells(desk.all())).to.equal(3);
  });

  it('ends with its input, or by ^C, each with its code', async () => {
    const script = open();
    script.say('hooks\ndisable 1\nenable 1\ntest 1\ny');
    script.hangUp();
    expect(await script.ended).to.equal(0);
    expect(script.all()).to.contain('issues is disabled\nEnabling.\nissues is enabled\n');
    expect(script.all()).to.contain('\nStarted execution ');
    const broken = open();
    await broken.hears('quit to leave.');
    broken.signal('SIGINT');
    expect(await broken.ended).to.equal(130);
  });

  it('lets nobody in who is not logged in, and waits for no daemon in a pipe', async () => {
    const stranger = open({ ADJUTANT_TOKEN: 'token_of_nobody' });
    expect(await stranger.ended).to.equal(4);
    expect(stranger.all()).to.equal(
      'ADJUTANT_TOKEN holds no valid token of this daemon.\n' +
        'Create a token: adjutant auth tokens create\n',
    );
    const nowhere = open({ ADJUTANT_URL: 'http://127.0.0.1:4' });
    expect(await nowhere.ended).to.equal(1);
    expect(nowhere.all()).to.contain('Start the daemon: adjutant up');
  });
});
