import {
  contracts,
  type Operation,
  type ResearchJob,
  type ResearchJobDetail,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag } from '../command.js';
import { crud } from '../crud.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { awaitOperationEnd, followOperation, noWait } from '../operations/follow.js';
import { listCommand } from '../request.js';
import { cutToWidth, oneLine, safe, wrapText } from '../text.js';

const endpoints = await contracts.research();

const columns = buildColumns<ResearchJob>(
  ['id:data', 'short=id:tail', 'status:state', 'depth', 'question'],
  ['progress=progress.note', 'error:data', 'created=createdAt:ago'],
);

const jobCrud = crud({
  noun: 'research',
  argument: 'job',
  rows: 'jobs',
  path: 'research',
  endpoints,
  columns,
  named: ({ id, question }) => ({ id, name: cutToWidth(question, 60) }),
});

const showJob = ({ out }: Context, job: ResearchJobDetail): void => {
  const lines = job.report === null ? [] : safe(job.report.markdown).split('\n');
  if (out.format === 'json') out.json(job);
  else if (out.format === 'id') out.line(job.id);
  else if (out.format === 'table') showFolded(out, job, lines);
  else for (const line of lines) out.line(line);
};

const showFolded = (out: Context['out'], job: ResearchJobDetail, lines: string[]): void => {
  if (job.status !== 'completed') {
    out.note(
      'The job is ' +
        `${job.status}${job.progress?.note ? `: ${oneLine(job.progress.note)}` : ''}.`,
    );
    for (const line of renderSources(job)) out.note(line);
  }
  for (const line of lines.flatMap((each) => wrapText(each, out.width))) out.line(line);
};

const renderSources = ({ sources }: ResearchJobDetail): string[] =>
  sources.map(({ n, status, title, url, error }) => {
    const named = oneLine(title === '' ? (url ?? '') : title);
    return `[${n}] ${status}: ${named}${error === null ? '' : ` (${oneLine(error)})`}`;
  });

/** Prints a line per step until the operation ends. ^C asks like in other commands. */
const followSteps = async (context: Context, begun: Operation): Promise<void> => {
  const { stderr } = context.streams;
  let shown = '';
  const show = ({ progress }: Operation): void => {
    const { done = 0, total = null, note = null } = progress ?? {};
    const counts = total === null ? '' : `  ${done} of ${total} sources`;
    const line = note === null ? '' : `${oneLine(note)}${counts}`;
    if (line !== '' && line !== shown) stderr.write(`${line}\n`);
    shown = line;
  };
  const wait = (): void => {
    const line = 'The daemon does not reply. Retrying…';
    if (line !== shown) stderr.write(`${line}\n`);
    shown = line;
  };
  const line = { show, wait, clear: () => undefined };
  show(await awaitOperationEnd(context, begun, { line }));
};

const start = command({
  name: 'start',
  args: '<question>',
  calls: [endpoints.start, endpoints.get],
  examples: [
    '"When was the bridge of Alton closed, and why?" --depth quick',
    '"When was the bridge of Alton closed?" --urls https://example.org/bridge --follow',
    '"What do my notes say of the bridge?" --sources knowledge --no-wait',
  ],
  fields: () => requestFields(endpoints.start.body, ['question']),
  flags: {
    noWait,
    follow: switchFlag(
      'Print each step on its own line until the job ends. Without the flag, the command waits with one line of progress',
    ),
  },
  notes: ['The question is sent to the search provider; your knowledge is not.'],
  run: async (context, { args, fields, flags }) => {
    const more = { question: args.question };
    const body = await requestFrom(endpoints.start.body, { fields, more }, context.at);
    const client = await context.client();
    const { id, operationId } = await client.research.start({ body });
    if (flags.noWait) {
      const job = await client.research.get({ id });
      const tail = id.slice(-6);
      return context.out.done(`Started. Show it: adjutant research get ${tail}`, job, columns);
    }
    const operation = await client.operations.get({ id: operationId });
    if (flags.follow) await followSteps(context, operation);
    else await followOperation(context, operation);
    const job = await client.research.get({ id });
    if (job.status !== 'completed')
      throw failed(`${oneLine(job.error ?? `The job is ${job.status}`)}.`);
    showJob(context, job);
  },
});

export const researchGroup: CommandGroup = {
  commands: [
    start,
    listCommand({
      name: 'list',
      rows: 'jobs',
      columns,
      endpoint: endpoints.list,
      examples: ['', '--status completed', '--limit 5 --json'],
      next: (rows) =>
        rows.length === 0 ? 'No jobs yet. Start one: adjutant research start "…"' : undefined,
    }),
    jobCrud.request({
      name: 'get',
      args: '<job>',
      endpoint: endpoints.get,
      examples: ['4ew6rt', '4ew6rt --json', '4ew6rt > report.md'],
      show: showJob,
    }),
    jobCrud.act('cancel', endpoints.cancel, {
      examples: [
        '4ew6rt',
        '4ew6rt --json',
        'research list --status reading --output id | xargs -n1 adjutant research cancel',
      ],
      message: ({ question }) => `Cancelled: ${oneLine(question)}`,
    }),
    jobCrud.delete({
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'research list --status failed --output id | xargs -n1 adjutant research delete --yes',
      ],
      ask: ({ question }) => `Delete ${safe(cutToWidth(question, 60))} and its report?`,
    }),
  ],
  notes: ['Identify a job by its id, or the last six characters of the id.'],
};
