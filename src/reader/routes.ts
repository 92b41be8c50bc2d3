import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { type Caller, CustomReply } from '../kernel/contract/endpoint.js';
import type { Operation } from '../kernel/contract/operation.js';
import { getEgressRefusal } from '../kernel/egress.js';
import type { Http } from '../kernel/http.js';
import { mint } from '../kernel/ids.js';
import { orNotFound, resource, throwIfFaults } from '../kernel/route.js';
import type { OperationBeginner } from '../operations/module.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { type ReaderTaskRow, readerTaskTable } from '../store/tables/reader.js';
import { viewer } from '../store/view.js';
import { ReaderTask, type ReaderTaskDetail, type ReadRequest, reader } from './contract.js';
import type { ReadInput } from './operation.js';
import type { ReaderStore } from './queries.js';

const viewTask = viewer(readerTaskTable, ReaderTask, {});

interface ReaderDeps {
  clock: Clock;
  hub: Hub;
  http: Pick<Http, 'check'>;
  tasks: ReaderStore;
  reads: OperationBeginner<ReadInput>;
  hasModel(userId: string, name: string): boolean;
}

const WAIT_S = 20;

const knowledgeRefused = (): Boom.Boom =>
  Boom.forbidden(
    'Only owners and admins may add pages to the knowledge of the organization. Omit `index`',
    {
      code: 'org_role',
    },
  );

export const readerResource = (deps: ReaderDeps) => {
  const { tasks, reads } = deps;
  const find = async (userId: string, id: string): Promise<ReaderTaskRow> =>
    orNotFound(await tasks.get(userId, id), 'No web page extraction with that id');

  const detailOf = async (userId: string, id: string): Promise<ReaderTaskDetail> => {
    const task = viewTask(await find(userId, id));
    const found = await tasks.content(userId, id);
    return { ...task, content: found?.content ?? null, links: JSON.parse(found?.links ?? '[]') };
  };

  const waitForTask = async ({ userId, signal }: Caller, id: string, seconds: number) => {
    const concerns = (data: unknown) => Object(data).resource?.id === id;
    const wait = { userId, channels: ['operation.progress'], concerns, ms: seconds * 1000, signal };
    await readOrWait(deps.hub, wait, async () => (isOpen(await tasks.get(userId, id)) ? [] : [id]));
    return detailOf(userId, id);
  };

  const end = async (userId: string, task: ReaderTaskRow): Promise<void> => {
    try {
      await reads.cancel(userId, task.operation_id);
    } catch (error) {
      // The operation has just ended or was pruned.
      if (!Boom.isBoom(error)) throw error;
    }
  };

  return resource('reader', reader, {
    read: async ({ query, body }, by) => {
      if (body.index && by.member?.role === 'member') throw knowledgeRefused();
      const { id } = await beginReading(deps, by.userId, body);
      const task = await waitForTask(by, id, query.wait ?? body.wait ?? WAIT_S);
      return new CustomReply(isOpen(task) ? 202 : 200, task);
    },
    list: async ({ query: { url, ...filter } }, { userId }) => {
      const requestedUrl = url === undefined || !URL.canParse(url) ? url : withoutFragment(url);
      const page = await tasks.list(userId, { ...filter, url: requestedUrl });
      return { tasks: page.rows.map(viewTask), nextCursor: page.nextCursor };
    },
    get: async ({ id, query }, by) => waitForTask(by, id, query.wait ?? 0),
    cancel: async ({ id }, { userId }) => {
      const task = await find(userId, id);
      if (!isOpen(task))
        throw Boom.conflict(`The web page extraction has already ended with status ${task.status}`);
      await reads.cancel(userId, task.operation_id);
      return detailOf(userId, id);
    },
    delete: async ({ id }, { userId }) => {
      const task = await find(userId, id);
      if (isOpen(task)) await end(userId, task);
      if (!(await tasks.delete(userId, id))) await find(userId, id);
    },
  });
};

const isOpen = (task: Pick<ReaderTaskRow, 'status'> | undefined): boolean =>
  task?.status === 'queued' || task?.status === 'running';

export const beginReading = async (
  { clock, tasks, reads, http, hasModel }: ReaderDeps,
  userId: string,
  body: ReadRequest,
): Promise<{ id: string; operation: Operation }> => {
  const { url: address, format = 'markdown', summarize = false, model, index, tags } = body;
  const refusal = getEgressRefusal(() => http.check(address));
  const isUnknown = model !== undefined && !hasModel(userId, model);
  throwIfFaults([
    ...(refusal === null ? [] : [{ path: 'url', message: `cannot be read: ${refusal}` }]),
    ...(isUnknown ? [{ path: 'model', message: 'must be an enabled model' }] : []),
  ]);
  const url = withoutFragment(address);
  const now = clock.now();
  const id = mint('readertask', now);
  const operation = await reads.begin(
    {
      userId,
      resource: { kind: 'readertask', id },
      title: `Reading ${new URL(url).host}`.slice(0, 200),
      input: { taskId: id },
      progress: { total: 1, unit: 'pages' },
    },
    ({ id: operationId }) => [
      tasks.insert({
        ...newTask(id, userId, operationId, iso(now)),
        url,
        format,
        summarize: summarize || model !== undefined ? 1 : 0,
        model: model ?? null,
        tags: index || tags ? JSON.stringify(tags ?? []) : null,
      }),
    ],
  );
  return { id, operation };
};

const newTask = (id: string, userId: string, operationId: string, createdAt: string) => ({
  ...NOT_READ,
  id,
  user_id: userId,
  status: 'queued' as const,
  operation_id: operationId,
  created_at: createdAt,
});

const NOT_READ = {
  final_url: null,
  canonical_url: null,
  kind: null,
  title: null,
  byline: null,
  site_name: null,
  published_at: null,
  language: null,
  excerpt: null,
  content_format: null,
  truncated: 0,
  words: null,
  summary: null,
  summary_model: null,
  sha256: null,
  changed: null,
  previous_task_id: null,
  http_status: null,
  error: null,
  fetched_at: null,
  finished_at: null,
  knowledge_id: null,
  note: null,
};

const withoutFragment = (text: string): string => {
  const url = new URL(text);
  url.hash = '';
  return url.href;
};
