import {
  type Client,
  contracts,
  type PipelineRun,
  type PipelineRunDetail,
  type PipelineTemplate,
} from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { type Context, command, on, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, failed } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { followRun } from './follow.js';
import { runKind } from './kind.js';
import { templateCrud } from './templates.js';
import { asksIn, runTree, type StageOfRun } from './tree.js';
import { type AskedValue, askValues, valuesFrom } from './values.js';

const endpoints = await contracts.pipelines();

const runColumns = columnsOf<PipelineRun>(
  ['id:data', 'short=id:tail', 'status:state', 'name', 'error'],
  {
    name: 'cost',
    value: ({ usage }) => usage.costUsd,
    show: ({ usage }) => `$${usage.costUsd.toFixed(2)}`,
  },
  ['started=createdAt:ago'],
);

const runCrud = crud({
  noun: 'pipeline',
  argument: 'run',
  rows: 'pipelines',
  path: 'pipelines',
  endpoints,
  columns: runColumns,
  named: (row) => row,
  kind: runKind,
});

const showRun = ({ out }: Context, run: PipelineRunDetail): void => {
  if (out.format !== 'table' || out.isChosen) {
    out.item(run, runColumns);
    return;
  }
  showHead(out, run);
  for (const line of runTree(run)) out.line(`  ${line}`);
  for (const line of adviceOf(run)) out.note(line);
};

/** Shows what became of a run that was followed, whose stages stand on the terminal already. */
const showFollowed = (context: Context, run: PipelineRunDetail): void => {
  const { out } = context;
  if (out.format !== 'table' || out.isChosen) {
    showRun(context, run);
    return;
  }
  showHead(out, run);
  for (const line of adviceOf(run)) out.note(line);
};

const showHead = (out: Context['out'], { name, status, error }: PipelineRunDetail): void =>
  out.sentence(`${name}: ${status}${error === null ? '' : `, ${error}`}`);

/** Returns by what a run is found. One that a stage has begun is in no list: by its whole id alone. */
const shortId = ({ id, parentId }: Pick<PipelineRun, 'id' | 'parentId'>): string =>
  parentId === null ? id.slice(-6) : id;

/** Returns the commands that answer what a run waits for. */
const adviceOf = (run: PipelineRunDetail): string[] =>
  run.stages.flatMap((stage) => {
    const { kind, status, input, reason } = stage;
    if (kind === 'foreach' && status === 'running' && asksIn(reason)) {
      return [`Who waits: adjutant pipelines list --parent-id ${run.id} --status waiting`];
    }
    if (status !== 'waiting_input' && status !== 'waiting_approval') return [];
    return [...askedLines(input), answerLine(run, stage)];
  });

/** Returns the lines of what a stage asks: its message, or the call that it would make. */
const askedLines = (input: unknown): string[] => {
  const message: unknown = Object(input).message;
  return safe(typeof message === 'string' ? message : JSON.stringify(input, null, 2)).split('\n');
};

/** Asks which template is started. */
const askTemplate = async (context: Context): Promise<string> => {
  const { ask } = context;
  const instead = 'the name of a template';
  const client = await context.client();
  const { templates } = ask.isPossible
    ? await client.templates.list({ query: { limit: 200 } })
    : { templates: [] };
  for (const [at, { name, description }] of templates.entries()) {
    ask.say(oneLine(`${at + 1}  ${name}${description === null ? '' : `   ${description}`}`));
  }
  const refuse = (typed: string) =>
    /^\d+$/.test(typed) && templates[Number(typed) - 1]
      ? undefined
      : `A number from 1 to ${templates.length}.`;
  const chosen = await ask.text({ ask: 'Which template', initial: '1', instead, refuse });
  return templates[Number(chosen) - 1]?.id ?? chosen;
};

const run = command({
  name: 'run',
  args: '[template] [params...]',
  calls: [endpoints.start, endpoints.get],
  examples: [
    'preset_release_notes version=2.1 changes=@changes.txt',
    'notes what=Spring --follow',
    'notes what=Spring --name "Notes on spring" --json',
  ],
  flags: {
    follow: on('Show the stages as they go; the exit code is that of the run'),
    name: textFlag('<text>', 'A name for the run'),
  },
  notes: [
    'A value that begins with @ is the text of a file.',
    'On a terminal without a template it asks for it, and for its parameters.',
  ],
  run: async (context, { args, flags }) => {
    const named = args.template ?? (await askTemplate(context));
    const { client, id: templateId } = await templateCrud.find(context, named);
    const { parameters }: PipelineTemplate = await client.templates.get({
      id: templateId,
      query: {},
    });
    const params =
      args.template === undefined
        ? await askValues(context, parameters)
        : await valuesFrom(context, args.params, parameters);
    const { name } = flags;
    const body = { templateId, params, ...(name !== undefined && { name }) };
    const begun = await client.pipelines.start({ body });
    if (!flags.follow) {
      const tail = begun.id.slice(-6);
      const sentence = `It is ${begun.status}. Look: adjutant pipelines get ${tail}`;
      return context.out.done(sentence, begun, runColumns);
    }
    const ended = await followRun(context, client, begun.id);
    if (ended.status === 'failed' || ended.status === 'stopped') context.exitCode = Exit.failed;
    showFollowed(context, ended);
  },
});

const answer = (name: 'approve' | 'reject') =>
  command({
    name,
    args: '<run> <stage>',
    calls: [endpoints[name], endpoints.get],
    examples: [
      `4ew6rt publish`,
      `4ew6rt publish --reason "As agreed" --yes`,
      `4ew6rt publish --yes --json`,
    ],
    flags: { reason: textFlag('<text>', 'Why, for those who read the run') },
    run: async (context, { args, flags: { reason } }) => {
      const { client, id } = await runCrud.find(context, args.run);
      const { digest, input } = await waiting(client, { id, key: args.stage, is: 'approval' });
      for (const line of askedLines(input)) context.out.note(line);
      await context.ask.confirm(`${name === 'approve' ? 'Approve' : 'Reject'} this?`);
      const body = { digest, ...(reason !== undefined && { reason }) };
      const done = await client.pipelines[name]({ id, key: args.stage, body });
      const verb = name === 'approve' ? 'Approved' : 'Rejected';
      context.out.done(`${verb} ${safe(args.stage)}.`, done, runColumns);
    },
  });

const input = command({
  name: 'input',
  args: '<run> <stage> [values...]',
  calls: [endpoints.input, endpoints.get],
  examples: [
    '4ew6rt form title=Spring',
    '4ew6rt form text=@letter.txt',
    '4ew6rt form size=l --json',
  ],
  run: async (context, { args }) => {
    const { client, id } = await runCrud.find(context, args.run);
    const { digest, input: asked } = await waiting(client, { id, key: args.stage, is: 'input' });
    const fields: AskedValue[] = Object(asked).fields ?? [];
    const isGuided = args.values.length === 0;
    if (isGuided) for (const line of askedLines(asked)) context.out.note(line);
    const values = isGuided
      ? await askValues(context, fields)
      : await valuesFrom(context, args.values, fields);
    const done = await client.pipelines.input({ id, key: args.stage, body: { digest, values } });
    context.out.done(`Gave ${safe(args.stage)} its values.`, done, runColumns);
  },
});

interface AskedStage {
  id: string;
  key: string;
  /** The answer that is about to be given. */
  is: 'approval' | 'input';
}

/** Finds what a stage waits for. Failed: it waits for nothing, or for the other answer. */
const waiting = async (client: Client, { id, key, is }: AskedStage) => {
  const run = await client.pipelines.get({ id });
  const stage = run.stages.find((each) => each.key === key);
  if (!stage)
    throw failed(
      `The run has no stage "${safe(key)}".`,
      `It has: ${run.stages.map((each) => each.key).join(', ')}`,
    );
  const { status, digest, input } = stage;
  if (digest === null) throw failed(`${safe(key)} is ${status}: it waits for nothing.`);
  if (status === `waiting_${is}`) return { digest, input };
  const what = status === 'waiting_input' ? 'values' : 'an approval';
  throw failed(`${safe(key)} waits for ${what}.`, answerLine(run, { key, status }));
};

/** Returns the line with the command that answers a stage. */
const answerLine = (
  run: PipelineRun,
  { key, status }: Pick<StageOfRun, 'key' | 'status'>,
): string =>
  status === 'waiting_input'
    ? `Answer: adjutant pipelines input ${shortId(run)} ${key} <field>=<value>`
    : `Answer: adjutant pipelines approve ${shortId(run)} ${key}   or reject`;

export const runCommands = [
  run,
  runCrud.list({
    examples: ['', '--status waiting', '--json'],
    next: (rows) => {
      const waits = rows.find(({ status }) => status === 'waiting');
      if (rows.length === 0) return 'Nothing yet: adjutant pipelines run <template>';
      return waits && `One waits: adjutant pipelines get ${shortId(waits)}`;
    },
  }),
  runCrud.request({
    name: 'get',
    args: '<run>',
    endpoint: endpoints.get,
    examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields status,error'],
    show: showRun,
  }),
  runCrud.act('stop', endpoints.stop, {
    examples: [
      '4ew6rt',
      '4ew6rt --json',
      'pipelines list --status running --output id | xargs -n1 adjutant pipelines stop',
    ],
    message: ({ name }) => `Stopped ${oneLine(name)}.`,
  }),
  runCrud.request({
    name: 'retry',
    args: '<run>',
    endpoint: endpoints.retry,
    examples: ['4ew6rt', '4ew6rt --from-stage draft', '4ew6rt --json'],
    except: [],
    show: ({ out }, row) =>
      out.done(`It goes on: ${oneLine(row.name)} is ${row.status}.`, row, runColumns),
  }),
  answer('approve'),
  answer('reject'),
  input,
];
