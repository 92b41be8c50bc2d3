import { existsSync, statSync } from 'node:fs';
import { ApiError } from '../../src/client/errors.js';
import { type Client, contracts, type Reply } from '../../src/client/index.js';
import { sessionFile } from '../../src/client/session.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { buildColumns } from '../columns.js';
import { type Context, command, switchFlag } from '../command.js';
import {
  checkMachine,
  checkService,
  type DoctorFinding,
  joinFindings,
  okCheck,
  repairHome,
  warnCheck,
} from '../daemon/checks.js';
import { resolveHome, shortPath } from '../daemon/environment.js';
import { Exit, nullIfRefused, usageFault } from '../exit.js';
import { duration, formatCount, oneLine, padded, wrapped } from '../text.js';

type Shows = (context: Context, client: Client) => Promise<void>;
type HealthPart = Reply<'health', 'detailed'>['parts'][number];

const partColumns = buildColumns<HealthPart>(
  ['name', 'status:state'],
  {
    name: 'latency',
    value: (part) => part.latencyMs,
    show: ({ latencyMs }) => (latencyMs === null ? '' : `${latencyMs} ms`),
    isNumber: true,
  },
  ['detail'],
);

const overall: Shows = async ({ out }, client) => {
  const { status, version, uptimeSeconds } = await client.health.get();
  const reply = { status, version, uptimeSeconds };
  if (out.format === 'table') {
    return out.line(`${status}, version ${version}, up ${duration(uptimeSeconds * 1000)}`);
  }
  out.item(reply, buildColumns(['status', 'version', 'uptime=uptimeSeconds']));
};

const detailed: Shows = async (context, client) => {
  const reply = await client.health.detailed();
  context.out.page({ reply, rows: reply.parts, columns: partColumns });
  if (reply.status === 'down') context.exitCode = Exit.failed;
};

/** A 503 also carries a report. */
const ready: Shows = async (context, client) => {
  const { reply, isReady } = await readiness(client);
  if (!isReady) context.exitCode = Exit.failed;
  if (context.out.format === 'table') {
    const { failing } = reply;
    return context.out.line(isReady ? 'ready' : `not ready: ${failing.join(', ')}`);
  }
  context.out.item(
    reply,
    buildColumns(['status'], { name: 'failing', value: (row) => row.failing.join(',') }),
  );
};

const readiness = async (client: Client) => {
  try {
    return { reply: await client.health.ready(), isReady: true };
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 503) throw error;
    const { value, error: fault } = (await contracts.health()).ready.reply.validate(error.reply);
    if (fault) throw error;
    return { reply: value, isReady: false };
  }
};

const live: Shows = async ({ out }, client) => {
  out.item(await client.health.live(), buildColumns(['status']));
};

const metrics: Shows = async ({ out }, client) =>
  out.line((await client.health.metrics()).trimEnd());

const parts: Record<string, Shows> = { detailed, ready, live, metrics };

export const healthCommand = command({
  name: 'health',
  args: '[part]',
  values: { part: Object.keys(parts) },
  calls: ['health get', 'health detailed', 'health ready', 'health live', 'health metrics'],
  summary: 'Show the health of the daemon',
  examples: ['', 'detailed', 'ready && echo go on'],
  notes: [
    `Parts: ${Object.keys(parts).join(', ')}. Without a part: whether the daemon replies.`,
    'Exit code 1: not ready, or a part is down.',
  ],
  seeAlso: 'adjutant status, adjutant doctor',
  run: async (context, { args }) => {
    const show = args.part === undefined ? overall : parts[args.part];
    if (!show)
      throw usageFault(`Unknown part "${args.part}". Parts: ${Object.keys(parts).join(', ')}`);
    await show(context, await context.client());
  },
});

const STATUS_WIDTH = 4;
const CELL_WIDTH = 40;
const MAX_ACROSS = 3;
const GAP = 2;
const SET_IN = STATUS_WIDTH + GAP;

const columns = buildColumns<DoctorFinding>(['status', 'name', 'detail', 'remedy']);

export const doctorCommand = command({
  name: 'doctor',
  calls: ['doctor look'],
  summary: 'Find problems and show how to fix them',
  examples: ['', '--fix', '--json', 'doctor --home /srv/adjutant --server http://127.0.0.1:3006'],
  flags: {
    fix: switchFlag('Repair the file permissions of the home, the keys and the login session'),
  },
  notes: [
    'Exit code 1: a problem was found. Nothing is changed without --fix.',
    'Admins also see the findings of the daemon.',
  ],
  seeAlso: 'status, logs',
  run: async (context, { flags }) => {
    if (flags.fix) {
      for (const done of repairHome(resolveHome(context.flags.home))) context.out.note(done);
    }
    const machine = checkMachine(resolveHome(context.flags.home));
    const service = await checkService(await context.client(), context.flags.home);
    const findings = [...joinFindings(machine, service), ...(await lookAtSession(context))];
    show(context, findings);
    if (findings.some(({ status }) => status !== 'ok')) context.exitCode = Exit.failed;
  },
});

const lookAtSession = async (context: Context): Promise<DoctorFinding[]> => {
  const file = sessionFile();
  if (existsSync(file) && statSync(file).mode & 0o077) {
    const detail = `${shortPath(file)} is readable by other users of this machine`;
    return [
      warnCheck(
        'login',
        detail,
        `chmod 600 ${shellWord(file)}   then: adjutant logout, adjutant login`,
      ),
    ];
  }
  if (context.token === undefined) {
    const detail = `not logged in at ${context.url}`;
    return [warnCheck('login', detail, 'adjutant login, or: adjutant quickstart')];
  }
  const client = await context.client();
  const me = await nullIfRefused([401], client.auth.me()).catch(() => undefined);
  if (me === undefined) return [];
  if (me === null) return [warnCheck('login', 'the login session has ended', 'adjutant login')];
  return [okCheck('login', `${me.username}, ${me.role}`)];
};

const show = (context: Context, findings: DoctorFinding[]): void => {
  const { out } = context;
  const problems = findings.filter(({ status }) => status !== 'ok');
  if (out.format !== 'table') {
    out.page({ reply: { problems: problems.length, findings }, rows: findings, columns });
    return;
  }
  for (const line of renderFindingsGrid(findings, out.width)) out.line(line);
  for (const { status, name, detail, remedy } of problems) {
    out.sentence(`${padded(status.toUpperCase(), STATUS_WIDTH)}  ${name}: ${detail}`, SET_IN);
    if (remedy) out.line(`${' '.repeat(STATUS_WIDTH)}  Fix: ${remedy}`);
  }
  if (problems.length === 0) out.note('No problems found.');
  else out.note(`${formatCount(problems.length, 'problem')}.`);
};

const renderFindingsGrid = (findings: DoctorFinding[], width: number): string[] => {
  const across = Math.max(1, Math.min(MAX_ACROSS, Math.floor(width / CELL_WIDTH)));
  const room = Math.floor(width / across);
  const cells = findings.map(({ status, name, detail }) => {
    const word = status === 'ok' ? status : status.toUpperCase();
    const label = status === 'ok' ? `${name} ${oneLine(detail)}` : name;
    const [first = '', ...more] = wrapped(label, room - GAP - SET_IN);
    return [
      `${padded(word, STATUS_WIDTH)}  ${first}`,
      ...more.map((line) => ' '.repeat(SET_IN) + line),
    ];
  });
  const grid = Array.from({ length: Math.ceil(cells.length / across) }, (_, row) =>
    cells.slice(row * across, (row + 1) * across),
  );
  return grid.flatMap((beside) =>
    Array.from({ length: Math.max(...beside.map((cell) => cell.length)) }, (_, line) =>
      beside
        .map((cell) => padded(cell[line] ?? '', room))
        .join('')
        .trimEnd(),
    ),
  );
};
