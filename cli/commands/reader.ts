import { contracts, type ReaderTask, type ReaderTaskDetail } from '../../src/client/index.js';
import { buildColumns, reasonColumn } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { noWait } from '../operations/follow.js';
import { listCommand } from '../request.js';
import { cutToWidth, oneLine, safe, wrapText } from '../text.js';

const endpoints = await contracts.reader();

const columns = buildColumns<ReaderTask>(
  ['id:data', 'short=id:tail', 'status:state', 'kind'],
  reasonColumn(),
  ['title'],
  ['url', 'words', 'changed:data', 'error:data', 'note:data', 'created=createdAt:ago'],
);

const taskCrud = crud({
  noun: 'readertask',
  argument: 'task',
  rows: 'tasks',
  path: 'reader',
  listed: 'tasks',
  endpoints,
  columns,
  named: ({ id, title, url }) => ({ id, name: cutToWidth(title ?? url, 60) }),
});

/** Seconds that the daemon may wait for the end of a task. */
const WAIT_S = 20;

const isOver = ({ status }: ReaderTask): boolean => status !== 'queued' && status !== 'running';

const awaited = async (context: Context, begun: ReaderTaskDetail): Promise<ReaderTaskDetail> => {
  const client = await context.listener();
  let task = begun;
  while (!isOver(task)) {
    task = await client.reader.get({ id: task.id, query: { wait: WAIT_S } });
  }
  return task;
};

/** Prints the content unchanged; on a terminal with its title, folded. */
const showTask = ({ out }: Context, task: ReaderTaskDetail): void => {
  const content = task.content ?? task.excerpt ?? '';
  if (out.format === 'json') out.json(task);
  else if (out.format === 'id') out.line(task.id);
  else if (out.format === 'table') showFolded(out, task, safe(content).split('\n'));
  else out.line(out.isTerminal ? safe(content) : content);
  if (task.note !== null && out.format !== 'json') out.note(`Note: ${oneLine(task.note)}`);
};

const showFolded = (out: Context['out'], task: ReaderTaskDetail, lines: string[]): void => {
  for (const [name, value] of listPageFacts(task)) out.note(`${name}: ${oneLine(value)}`);
  for (const line of [...renderSummary(task), ...lines].flatMap((each) =>
    wrapText(each, out.width),
  )) {
    out.line(line);
  }
  if (task.truncated) out.note('The content was truncated.');
};

const listPageFacts = ({ title, byline, publishedAt, finalUrl, changed }: ReaderTaskDetail) => {
  const facts: [string, string | null][] = [
    ['Title', title],
    ['By', byline],
    ['Published', publishedAt],
    ['From', finalUrl],
    [
      'Changed',
      changed === null ? null : changed ? 'since the last time' : 'not since the last time',
    ],
  ];
  return facts.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
};

const renderSummary = ({ summary, summaryModel }: ReaderTaskDetail): string[] =>
  summary === null
    ? []
    : [`Summary (${oneLine(summaryModel ?? '')}):`, ...safe(summary).split('\n'), ''];

const read = command({
  name: 'read',
  args: '<url>',
  calls: [endpoints.read, endpoints.get],
  examples: [
    'https://example.org/news/today',
    'https://example.org/news/today --format text > today.txt',
    'https://example.org/news/today --summarize --json',
  ],
  fields: () => requestFields(endpoints.read.body, ['url', 'wait']),
  flags: { noWait },
  notes: ['Hidden content of the page is left out.'],
  run: async (context, { args, fields, flags }) => {
    const more = { url: args.url, wait: flags.noWait ? 0 : WAIT_S };
    const body = await requestFrom(endpoints.read.body, { fields, more }, context.at);
    const begun = await (await context.client()).reader.read({ body });
    if (flags.noWait && !isOver(begun)) {
      const tail = begun.id.slice(-6);
      return context.out.done(
        `Reading the page. Show it: adjutant reader show ${tail}`,
        begun,
        columns,
      );
    }
    const task = await awaited(context, begun);
    if (task.status !== 'completed')
      throw failed(`${oneLine(task.error ?? `The extraction is ${task.status}`)}.`);
    showTask(context, task);
  },
});

export const readerGroup: CommandGroup = {
  commands: [
    read,
    listCommand({
      name: 'tasks',
      rows: 'tasks',
      columns,
      endpoint: endpoints.list,
      examples: ['', '--status failed', '--kind article --json'],
      next: (rows) =>
        rows.length === 0 ? 'No tasks yet. Read a page: adjutant reader read https://…' : undefined,
    }),
    taskCrud.request({
      name: 'show',
      args: '<task>',
      endpoint: endpoints.get,
      examples: ['4ew6rt', '4ew6rt --json', '4ew6rt > page.md'],
      show: showTask,
    }),
    taskCrud.act('cancel', endpoints.cancel, {
      examples: [
        '4ew6rt',
        '4ew6rt --json',
        'reader tasks --status running --output id | xargs -n1 adjutant reader cancel',
      ],
      message: ({ url }) => `Cancelled: ${oneLine(url)}`,
    }),
    taskCrud.delete({
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'reader tasks --status failed --output id | xargs -n1 adjutant reader delete --yes',
      ],
      ask: ({ title, url }) => `Delete ${safe(cutToWidth(title ?? url, 60))}?`,
    }),
  ],
  notes: ['Identify a task by its id, or the last six characters of the id.'],
};
