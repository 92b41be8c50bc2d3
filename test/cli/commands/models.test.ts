import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Openai, openaiDialects, says, startOpenai } from '../../harness/openai.js';
import { startDialect } from '../../harness/wire.js';
import { calling } from '../../world/modelservers.js';
import { forgetModels, openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const KEY = 'sk-canary-1234567890';
const lines = (text: string): string[] => text.trimEnd().split('\n');

describe('models', () => {
  let world: World;
  let openai: Openai;
  before(async () => {
    openai = await startOpenai();
    world = await openWorld();
  });
  after(async () => {
    await world.stop();
    await openai.stop();
  });
  afterEach(() => forgetModels(world));

  const cli = (...words: string[]) => world.cli(['models', ...words]);
  const add = (name: string, ...words: string[]) =>
    cli(
      ...['create', name, '--provider', 'openai-compatible', '--model-id', 'fake-1'],
      ...['--base-url', openai.baseUrl, ...words],
    );

  it('are registered from flags, with the key from a file', async () => {
    const file = await world.file('key', `${KEY}\n`);
    const ended = await add(
      ...(['house', '--key-file', file, '--price', '0.5,1.5'] as [string, ...string[]]),
      ...['--topics', 'triage,report', '--no-vision', '--context-window', '9000'],
    );
    expect([ended.code, ended.stdout + ended.stderr]).to.not.contain(KEY);
    const model = await world.client.models.get({ name: 'house' });
    expect(model).to.include({
      apiKeySet: true,
      contextWindow: 9000,
      price: { inputPerMTok: 0.5, outputPerMTok: 1.5 },
      topics: ['report', 'triage'],
    });
    expect(ended.code).to.equal(0);
    expect(ended.stdout.split('\t').slice(0, 3)).to.equal([
      'house',
      'openai-compatible',
      'unknown',
    ]);
  });

  it('are registered at a terminal, which asks for the key and shows nothing of it', async () => {
    const words = [
      'models',
      'create',
      'claude',
      '--provider',
      'anthropic',
      '--model-id',
      'claude-sonnet-4-5',
    ];
    const { code, stdout, stderr } = await world.cli(words, { terminal: 100, answers: [KEY] });
    expect([code, stdout]).to.equal([0, '']);
    expect(stderr).to.contain('API key: ').and.to.contain('Registered claude.');
    expect(stderr).to.not.contain(KEY);
    expect((await world.client.models.get({ name: 'claude' })).apiKeySet).to.be.true();
  });

  it('are registered with a warning where their file is missing', async () => {
    const { code, stderr } = await cli(
      ...['create', 'lost', '--provider', 'llama', '--model-id', 'nosuch'],
    );
    expect([code, stderr]).to.equal([
      0,
      'The model cannot answer: The model file is missing: nosuch\n',
    ]);
  });

  it('take no key as a flag', async () => {
    const { code, stderr } = await add('house', '--api-key', KEY);
    expect([code, lines(stderr)[0]]).to.equal([2, "Unknown option '--api-key'."]);
    expect(stderr).to.not.contain(KEY);
  });

  it('name what is wrong by its flag', async () => {
    const { code, stderr } = await add('routing', '--fallbacks', 'nobody');
    expect([code, lines(stderr).slice(1, 3)]).to.equal([
      2,
      [
        '  --name       must not begin with a reserved word, such as routing or health',
        '  --fallbacks  must be one of the models: digest, default',
      ],
    ]);
    const price = await add('house', '--price', 'cheap');
    expect([price.code, price.stderr]).to.equal([
      2,
      '--price must be the USD per million input and output tokens, such as 3,15, with an optional third number for the USD per minute of audio, or none (got "cheap")\n',
    ]);
  });

  it('are listed, shown, changed and deleted', async () => {
    await add('house');
    const row = [
      'house',
      'openai-compatible',
      'unknown',
      '',
      'default',
      '',
      'fake-1',
      openai.baseUrl,
    ];
    const data = ['false', 'true', '', '128000'];
    const list = await cli('list');
    expect(lines(list.stdout)[0]).to.equal([...row, ...data].join('\t'));
    expect((await cli('list', '--output', 'id')).stdout).to.equal('house\ndigest\n');
    const shown = await cli('get', 'house', '--json');
    expect(JSON.parse(shown.stdout).modelId).to.equal('fake-1');
    const changed = await cli('update', 'house', '--no-enabled', '--price', 'none', '--json');
    expect(JSON.parse(changed.stdout)).to.include({ enabled: false, price: null });
    const unsure = await cli('delete', 'house');
    expect(unsure.code).to.equal(2);
    expect((await cli('delete', 'house', '--yes')).code).to.equal(0);
    const left = await world.cli(['models', 'list'], { terminal: 120 });
    expect(left.stderr).to.equal(
      'No language model yet. Install one for this machine: adjutant models recommend --install\n' +
        'Add another one: adjutant models create\n',
    );
  });

  it('are tested, registered or not, and their health is told', async () => {
    await add('house');
    openai.script(says({ text: 'ok' }), says({ text: 'ok' }));
    const well = await world.cli(['models', 'test', 'house'], { terminal: 80 });
    expect([well.code, well.stdout]).to.match(
      /^0,ok {2}replied "ok", \d+ ms\nTested: reply, second message\. The model called no tool\n$/,
    );
    openai.script(calling('test_echo', '{"word":"ok"}'), says({ text: 'ok' }));
    const called = await world.cli(['models', 'test', 'house'], { terminal: 80 });
    expect(called.stdout.split('\n')[1]).to.equal('Tested: reply, tool call, second message');
    const [dialect] = openaiDialects;
    const wire =
      dialect && (await startDialect(dialect, ...[1, 2].map(() => dialect.says({ text: 'ok' }))));
    const file = await world.file('key', KEY);
    const untried = await cli(
      ...['test', '--provider', 'openai', '--model-id', 'x', '--key-file', file],
      ...['--base-url', wire?.baseUrl ?? '', '--json'],
    );
    expect([untried.code, JSON.parse(untried.stdout).ok]).to.equal([0, true]);
    expect(wire?.asked[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    await wire?.stop();
    const failing = await cli('test', 'house');
    expect([failing.code, failing.stdout.split('\t')[0]]).to.equal([1, 'false']);
    const { code, stdout } = await cli('health');
    expect([code, stdout.split('\t').slice(0, 3)]).to.equal([
      1,
      ['house', 'openai-compatible', 'down'],
    ]);
  });

  it('are chosen by default and by topic', async () => {
    await add('one');
    await add('two');
    expect((await cli('default', 'two')).code).to.equal(0);
    const set = await cli(
      'routing',
      'set',
      'triage',
      '--primary',
      'one',
      '--fallback',
      'two,digest',
    );
    expect([set.code, set.stdout]).to.equal([0, 'triage\tone\ttwo,digest\n']);
    await cli('routing', 'set', 'triage', '--fallback', 'digest');
    await cli('routing', 'set', '--default', 'one');
    const { stdout } = await cli('routing', 'get', '--json');
    expect(JSON.parse(stdout)).to.equal({
      default: 'one',
      topics: [{ topic: 'triage', primary: 'one', fallbacks: ['digest'] }],
    });
    for (const words of [[], ['new'], ['--primary', 'one'], ['new', '--fallback', 'one']]) {
      expect((await cli('routing', 'set', ...words)).code).to.equal(2);
    }
    expect((await cli('routing', 'remove', 'nothing')).code).to.equal(1);
    expect((await cli('routing', 'remove', 'triage')).stdout).to.equal('');
  });

  it('make the vectors of all texts only if that is confirmed', async () => {
    const made = await add('vectors', '--dimensions', '8', '--weight', '0.4');
    expect(made.code).to.equal(0);
    const words: [string, ...string[]] = ['set', 'embeddings', '--primary', 'vectors'];
    const asked = await cli('routing', ...words);
    expect([asked.code, asked.stderr]).to.equal([
      2,
      'Confirmation is required, but there is no terminal. Add --yes.\n',
    ]);
    const set = await cli('routing', ...words, '--yes');
    expect([set.code, set.stdout]).to.equal([0, 'embeddings\tvectors\t\n']);
    await cli('routing', 'remove', 'embeddings');
  });

  it('tell what is known, what a server has, and what was spent', async () => {
    const known = await cli('known', 'anthropic');
    expect(lines(known.stdout)).to.include('claude-sonnet-4-5\t200000\t64000\t3 / 15');
    expect((await cli('known', 'acme')).code).to.equal(1);
    const closed = await cli('available', 'ollama', '--base-url', 'http://127.0.0.1:9');
    expect([closed.code, closed.stderr]).to.equal([
      1,
      'Ollama does not reply at http://127.0.0.1:9: 127.0.0.1: the connection was refused\n' +
        'Start it, or pass the address of another machine: adjutant models available ollama --base-url http://<host>:11434/v1\n',
    ]);
    expect((await cli('available', 'acme')).code).to.equal(2);
    const spent = await world.cli(['models', 'usage'], { terminal: 80 });
    expect([spent.code, spent.stderr]).to.equal([0, 'No model usage yet.\n']);
  });

  it('have help', async () => {
    const [verbs, routing, topic] = await Promise.all([
      world.cli(['models']),
      world.cli(['models', 'routing']),
      world.cli(['help', 'models', 'create']),
    ]);
    expect(verbs.stdout).to.contain('Usage: adjutant models <verb> [id] [flags]');
    expect(routing.stdout).to.contain('Usage: adjutant models routing <verb>');
    expect(topic.stdout).to.contain('--key-file').and.to.not.contain('--api-key');
  });
});
