import { parseArgs } from 'node:util';
import { measureAgents } from './agents.js';
import { measureAgentsOverWire } from './agentwire.js';
import { measureCommands } from './commands.js';
import { buildCommit, compareWith } from './compare.js';
import { DURABLE, RUNS } from './contenders.js';
import { measureFairness } from './fairness.js';
import { atLeast, atMost, type Goal, isMet, rowsOfGoals } from './goals.js';
import { measureIngest } from './ingest.js';
import { measureInstalls } from './installs.js';
import { type KnowledgeFigures, measureKnowledge } from './knowledge.js';
import { measureLists } from './lists.js';
import { measureMail } from './mail.js';
import { measureMillion } from './million.js';
import { measurePages } from './pages.js';
import { measurePipelines } from './pipelines.js';
import { type Figures, measureReceivers } from './receivers.js';
import { measureRetrieval } from './retrieval.js';
import { measureRuns, type RunFigures } from './runs.js';
import { measureSlowDisk } from './slowdisk.js';
import { measureSockets } from './sockets.js';
import { measureSpeech } from './speech.js';
import { measureStart } from './start.js';
import { measureTasks } from './taskviews.js';

const USAGE = `npm run bench -- [options]

Measures the receiver beside bare servers in the same run, then everything else. Ratios are relative
to a bare server that does the same durable work. The goals are in a table at the end, and the command
fails if one is missed. The load comes from another process on the same cores.

  --receivers   measures the receivers alone
  --compare <commit>
                builds the commit, measures both receivers in the same rounds, and fails if this
                one is more than 5 % slower beyond the spread of the rounds
  --knowledge   measures knowledge alone: 100,000 chunks of one owner
  --pipelines   measures pipelines and recurring tasks alone
  --tasks       measures the views of 10,000 tasks alone
  --pages       measures the daemon under 50 open pages alone, in Chromium
  --installs    measures the installation of a model of 256 MiB and the fit of all models alone
  --mail        measures the processing of 1,000 e-mails alone, and the decoding of speech
  --ingest <MB> measures how a folder with so many MB of text is read, alone
  --retrieval <folder>
                measures the search in knowledge alone, over a collection
                with corpus.jsonl, queries.jsonl and qrels.tsv
  --full        also with a million deliveries in the database, and its lists
  --rounds <n>  how often each figure is taken (5)
  --help        prints this`;

const options = {
  receivers: { type: 'boolean', default: false },
  compare: { type: 'string' },
  knowledge: { type: 'boolean', default: false },
  pipelines: { type: 'boolean', default: false },
  tasks: { type: 'boolean', default: false },
  installs: { type: 'boolean', default: false },
  pages: { type: 'boolean', default: false },
  mail: { type: 'boolean', default: false },
  ingest: { type: 'string' },
  retrieval: { type: 'string' },
  full: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '5' },
  help: { type: 'boolean', default: false },
} as const;

/** Says what is wrong with the arguments, or what there are, and ends. */
const leave = (text: string, code: number): never => {
  console[code === 0 ? 'log' : 'error'](text);
  process.exit(code);
};

const readOptions = () => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return leave(`${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
  }
};

const values = readOptions();
if (values.help) leave(USAGE, 0);
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) leave('--rounds must be 1 or more', 2);

const print = (title: string, rows: Record<string, Record<string, number | string>>): void => {
  console.log(`\n${title}`);
  console.table(rows);
};

const rowsOf = (figures: Figures[]) =>
  Object.fromEntries(
    figures.map(({ name, perSecond, p50, p99, ratio, endRatio, loopUs, busiestUs, restUs }) => [
      name,
      {
        'per second': Math.round(perSecond),
        'p50 ms': p50.toFixed(2),
        'p99 ms': p99.toFixed(2),
        ratio: ratio.toFixed(2),
        'ratio to the end': endRatio === 0 ? '' : endRatio.toFixed(2),
        'loop µs': loopUs.toFixed(0),
        'busiest thread µs': busiestUs.toFixed(0),
        'other threads µs': restUs.toFixed(0),
      },
    ]),
  );

/** The runs of one hook that wait while those of another are measured. */
const QUEUED = 400_000;

/** Rows of figures that have a number of digits each. */
const rounded = (figures: object, digits = 0): Record<string, string> =>
  Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Number(value).toFixed(digits)]),
  );

const of = (figures: Figures[], name: string): Figures => {
  const found = figures.find((each) => each.name === name);
  if (!found) throw new Error(`${name} was not measured`);
  return found;
};

const processorUs = ({ loopUs, busiestUs, restUs }: Figures): number => loopUs + busiestUs + restUs;

/** Relative to the bare durable server. */
const intakeGoals = (wire: Figures[]): Goal[] => {
  const [durable, intake] = [of(wire, DURABLE), of(wire, RUNS.held)];
  return [
    atLeast('intake', intake.ratio, 0.85),
    atLeast('notify to its end', of(wire, RUNS.notify).endRatio, 0.7),
    atLeast('notify after a condition to its end', of(wire, RUNS.judged).endRatio, 0.5),
    atMost('p99 of intake', intake.p99 / durable.p99, 1.5),
  ];
};

/** What the receivers reach: asked by a generator of bytes, and by an ordinary client. */
const receiverGoals = (wire: Figures[], usual: Figures[], one: Figures[]): Goal[] => {
  const [intake, notify] = [of(wire, RUNS.held), of(wire, RUNS.notify)];
  const judged = of(wire, RUNS.judged);
  return [
    ...intakeGoals(wire),
    atLeast('intake from an ordinary client', of(usual, RUNS.held).ratio, 0.85),
    atLeast('acknowledged beside queued runs, of intake', judged.perSecond / intake.perSecond, 0.9),
    atMost('p99 of notify, of that of intake', notify.p99 / intake.p99, 2),
    atMost('one notify at a time, processor µs', processorUs(of(one, RUNS.notify)), 600),
  ];
};

const runGoals = ({ judged, tool, agents }: Record<string, RunFigures>): Goal[] => [
  atMost('after a storm, of its length', rest(judged), 1),
  atLeast('time.now per second', tool?.perSecond ?? 0, 1500),
  atLeast('agents with digest per second', agents?.perSecond ?? 0, 500),
];

/** The time that runs took after all deliveries were acknowledged, of the time until then. */
const rest = (runs: RunFigures | undefined): number =>
  runs ? (runs.allMs - runs.sentMs) / runs.sentMs : Number.POSITIVE_INFINITY;

const measureRest = async (wire: Figures[]): Promise<Goal[]> => {
  const usual = await measureReceivers({ connections: 50, count: 20_000, rounds });
  print('The same from an ordinary HTTP client', rowsOf(usual));
  const one = await measureReceivers({ connections: 1, count: 1000, rounds });
  print('Signed deliveries of 1 KiB, one connection (medians)', rowsOf(one));
  const runs = await measureRuns();
  const rowsOfRuns = Object.entries(runs).map(([name, figures]) => [name, rounded(figures)]);
  print('Queued runs to their end', Object.fromEntries(rowsOfRuns));
  const fairness = await measureFairness(QUEUED);
  print('Runs of a hook beside those of another that wait', { Adjutant: rounded(fairness) });
  const start = await measureStart(rounds);
  print('Start and memory', { Adjutant: rounded(start) });
  const commands = await measureCommands(rounds);
  print('Commands, processor time beyond a bare node', { Adjutant: rounded(commands) });
  const agents = await measureAgents();
  print('Agents of 20 steps, each durable, with a model that answers at once', {
    Adjutant: rounded(agents, 2),
  });
  const asking = await measureAgentsOverWire();
  print('Agents of 10 steps that ask a model over HTTP', { Adjutant: rounded(asking, 2) });
  const sockets = await measureSockets();
  print('Frames to 500 sockets, 100 publications a second', { each: rounded(sockets, 2) });
  print('Each fsync delayed by 5 ms', { Adjutant: await measureSlowDisk() });
  const pipelines = await pipelineGoals();
  return [
    ...pipelines,
    ...receiverGoals(wire, usual, one),
    ...runGoals(runs),
    atMost('p99 of a run beside those of another hook, ms', fairness.p99, 50),
    atMost('a step of an agent over HTTP, processor ms', asking.warmMs, 2),
    atMost('a step of an agent in process, processor ms', agents.stepCpuMs, 1),
    atMost('frames to 500 sockets, of bare ws', sockets.daemonUs / sockets.bareUs, 1.3),
    atMost('ready, processor ms', start.readyCpuMs, 600),
    atMost('ready, ms', start.readyMs, 350),
    atMost('idle with an account, MB', start.idleMb, 85),
    atMost('adjutant --help over bare node, ms', commands.helpMs, 25),
    atMost('adjutant hooks list over bare node, ms', commands.listMs, 70),
  ];
};

const knowledgeGoals = (figures: KnowledgeFigures): Goal[] => [
  atLeast('chunks indexed per second', figures.perSecond, 1000),
  atMost('keywords, three words, p50 ms', figures.threeWords.request, 10),
  atMost('keywords, twelve words, p50 ms', figures.twelveWords.request, 20),
  atMost('hybrid, p50 ms', figures.hybrid.request, 40),
  atMost('p99 of deliveries while chunks are indexed, ms', figures.p99Indexing, 30),
  atMost('p99 of deliveries while chunks are searched, ms', figures.p99Searching, 30),
  atMost('memory while chunks are indexed, MB', figures.indexingMb, 150),
  atMost('memory while chunks are searched, MB', figures.searchingMb, 150),
];

const pipelineGoals = async (): Promise<Goal[]> => {
  const figures = await measurePipelines();
  print('Pipelines of 12 stages, lists, and recurring tasks', { Adjutant: rounded(figures, 2) });
  return [
    atMost('a stage of a pipeline, processor ms', figures.stageCpuMs, 15),
    atMost('an item of a list, processor ms', figures.itemCpuMs, 15),
    atLeast('recurring tasks fired per second', figures.recurringPerSecond, 200),
  ];
};

const installGoals = async (): Promise<Goal[]> => {
  const figures = await measureInstalls(rounds);
  print('A model of 256 MiB, and the fit of all models', { Adjutant: rounded(figures, 2) });
  return [
    atMost('an installation, of a plain fetch with its checksum', figures.ratio, 4),
    atMost('the fit of the whole catalogue, ms', figures.fitMs, 50),
  ];
};

const pageGoals = async (): Promise<Goal[]> => {
  const figures = await measurePages();
  if (figures === null) {
    console.log('\nOpen pages were not measured: Chromium is not installed');
    return [];
  }
  print('100 events a second to 50 sockets, and to 50 open pages, ms a second', {
    Adjutant: rounded(figures, 1),
  });
  const ratio = figures.pagesMs / figures.socketsMs;
  return [atMost('50 open pages, of 50 sockets', ratio, 1.5)];
};

const mailGoals = async (): Promise<Goal[]> => {
  const mail = await measureMail(rounds);
  if (mail) print('1,000 new e-mails, each with a run of a hook', { Adjutant: rounded(mail, 2) });
  else console.log('\nE-mails were not measured: Dovecot does not run here');
  const speech = await measureSpeech(rounds);
  if (speech) print('Ten minutes of speech, but for the engine', { Adjutant: rounded(speech, 2) });
  else console.log('\nSpeech was not measured: ffmpeg and flite are not installed');
  return [
    ...(mail ? [atMost('1,000 e-mails processed, of a plain fetch', mail.ratio, 4)] : []),
    ...(speech ? [atMost('speech decoded and cut, of ffmpeg', speech.ratio, 4)] : []),
  ];
};

const taskGoals = async (): Promise<Goal[]> => {
  const views = await measureTasks();
  const rows = Object.entries(views).map(([name, figures]) => [name, rounded(figures, 1)]);
  print('Views of 10,000 tasks, ms of 200 calls', Object.fromEntries(rows));
  // The calendar is no view: its library writes an event in 0.2 ms, in turns that hold up nobody.
  const { 'tasks.ics': _, ...lists } = views;
  return Object.entries(lists).map(([name, { p95 }]) => atMost(`${name}, p95 ms`, p95, 20));
};

/** Prints goals, and ends: with a failure if one is missed. */
const endWith = (goals: Goal[]): never => {
  print('Goals', rowsOfGoals(goals));
  process.exit(goals.every(isMet) ? 0 : 1);
};

if (values.knowledge) {
  const figures = await measureKnowledge();
  const { threeWords, twelveWords, hybrid, fewChunks, ...rest } = figures;
  print('Knowledge of one owner, beside 50 deliveries a second', { Adjutant: rounded(rest, 1) });
  print('Its searches, p50 ms', {
    'keywords, three words': rounded(threeWords, 1),
    'keywords, twelve words': rounded(twelveWords, 1),
    hybrid: rounded(hybrid, 1),
    'hybrid, of another with few chunks': rounded(fewChunks, 1),
  });
  endWith(knowledgeGoals(figures));
}

if (values.pipelines) endWith(await pipelineGoals());
if (values.tasks) endWith(await taskGoals());
if (values.installs) endWith(await installGoals());
if (values.pages) endWith(await pageGoals());
if (values.mail) endWith(await mailGoals());

if (values.ingest !== undefined) {
  const megabytes = Number(values.ingest);
  if (!Number.isInteger(megabytes) || megabytes < 4) leave('--ingest must be 4 or more', 2);
  const figures = await measureIngest(megabytes);
  print('A folder of texts of 1 MB', { Adjutant: rounded(figures) });
  endWith([
    atLeast('chunks searchable per second', figures.perSecond, 1000),
    atMost('memory of the daemon, MB', figures.mostMb, 150),
    atMost('memory at the end, of that at the beginning', figures.lastMb / figures.firstMb, 1.1),
    atMost('children left at rest', figures.children, 0),
  ]);
}

if (values.retrieval !== undefined) {
  print('Answers to questions found, by mode', await measureRetrieval(values.retrieval));
  process.exit(0);
}

const plan = { connections: 50, count: 20_000, rounds, through: 'wire' } as const;

if (values.compare !== undefined) {
  const base = await buildCommit(values.compare);
  const both = await measureReceivers({ ...plan, base }).finally(base.remove);
  print('Signed deliveries of 1 KiB, 50 connections (medians)', rowsOf(both));
  endWith(compareWith(base.label, both));
}

const many = await measureReceivers(plan);
print('Signed deliveries of 1 KiB, 50 connections (medians)', rowsOf(many));
const goals = values.receivers
  ? intakeGoals(many)
  : [
      ...(await measureRest(many)),
      ...(await installGoals()),
      ...(await mailGoals()),
      ...(await pageGoals()),
    ];
if (values.full) {
  print('A million deliveries in the database', rowsOf(await measureMillion(rounds)));
  print('Lists, of a million executions and 10,000 hooks', await measureLists());
  goals.push(...(await taskGoals()));
}

endWith(goals);
