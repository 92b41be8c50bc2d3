import { ApiError } from '../../src/client/errors.js';
import { type Client, contracts, type Reply } from '../../src/client/index.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { Exit, usageFault } from '../exit.js';
import { duration } from '../times.js';

type Shows = (context: Context, client: Client) => Promise<void>;
type HealthPart = Reply<'health', 'detailed'>['parts'][number];

const columns: TableColumn<HealthPart>[] = [
  { name: 'name', value: (part) => part.name },
  { name: 'status', value: (part) => part.status, isState: true },
  {
    name: 'latency',
    value: (part) => part.latencyMs,
    show: ({ latencyMs }) => (latencyMs === null ? '' : `${latencyMs} ms`),
    isNumber: true,
  },
  { name: 'detail', value: (part) => part.detail },
];

const overall: Shows = async ({ out }, client) => {
  const { status, version, uptimeSeconds } = await client.health.get();
  const reply = { status, version, uptimeSeconds };
  if (out.format === 'table') {
    return out.line(`${status}, version ${version}, up ${duration(uptimeSeconds * 1000)}`);
  }
  out.item(reply, [
    ...fieldColumns('status', 'version'),
    { name: 'uptime', value: (row) => row.uptimeSeconds },
  ]);
};

const detailed: Shows = async (context, client) => {
  const reply = await client.health.detailed();
  context.out.page({ reply, rows: reply.parts, columns });
  if (reply.status === 'down') context.exitCode = Exit.failed;
};

/** Not ready is an answer as good as ready, with 503. */
const ready: Shows = async (context, client) => {
  const { reply, isReady } = await readiness(client);
  if (!isReady) context.exitCode = Exit.failed;
  if (context.out.format === 'table') {
    const { failing } = reply;
    return context.out.line(isReady ? 'ready' : `not ready: ${failing.join(', ')}`);
  }
  context.out.item(reply, [
    { name: 'status', value: (row) => row.status },
    { name: 'failing', value: (row) => row.failing.join(',') },
  ]);
};

const readiness = async (client: Client) => {
  try {
    return { reply: await client.health.ready(), isReady: true };
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 503) throw error;
    const { value, error: fault } = (await contracts.health()).ready.reply.validate(error.answer);
    if (fault) throw error;
    return { reply: value, isReady: false };
  }
};

const live: Shows = async ({ out }, client) => {
  out.item(await client.health.live(), [{ name: 'status', value: (row) => row.status }]);
};

const metrics: Shows = async ({ out }, client) =>
  out.line((await client.health.metrics()).trimEnd());

const parts: Record<string, Shows> = { detailed, ready, live, metrics };

export const healthCommand = command({
  name: 'health',
  args: '[part]',
  values: { part: Object.keys(parts) },
  calls: ['health get', 'health detailed', 'health ready', 'health live', 'health metrics'],
  summary: 'Whether the daemon is well',
  examples: ['', 'detailed', 'ready && echo go on'],
  notes: [
    `Parts: ${Object.keys(parts).join(', ')}. Without one: whether the daemon answers at all.`,
    'Exit 1 where it is not ready, or a part is down.',
  ],
  seeAlso: 'adjutant status, adjutant doctor',
  run: async (context, { args }) => {
    const show = args.part === undefined ? overall : parts[args.part];
    if (!show)
      throw usageFault(`"${args.part}" is no part. There are: ${Object.keys(parts).join(', ')}`);
    await show(context, await context.client());
  },
});
