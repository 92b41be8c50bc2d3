import { existsSync, statSync } from 'node:fs';
import { ApiError } from '../../src/client/errors.js';
import { sessionFile } from '../../src/client/session.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { command, on } from '../command.js';
import type { Context } from '../context.js';
import { homeOf, shortPath } from '../daemon/environment.js';
import { type DoctorFinding, joinFindings, okCheck, warnCheck } from '../daemon/findings.js';
import { lookAtMachine } from '../daemon/machine.js';
import { mend } from '../daemon/repair.js';
import { lookAtService } from '../daemon/service.js';
import { Exit } from '../exit.js';
import { cutToWidth, oneLine, padded } from '../text.js';

const STATUS_WIDTH = 4;
const CELL_WIDTH = 40;
const MOST_ACROSS = 3;
const GAP = 2;
const SET_IN = STATUS_WIDTH + GAP;

const columns: TableColumn<DoctorFinding>[] = [
  ...fieldColumns('status', 'name', 'detail', 'remedy'),
];

export const doctorCommand = command({
  name: 'doctor',
  calls: ['doctor look'],
  summary: 'Look for what is wrong, and say what to do about it',
  examples: ['', '--fix', '--json', 'doctor --home /srv/adjutant --server http://127.0.0.1:3006'],
  flags: { fix: on('Mend what is safe to mend: who may read home, keys and session file') },
  notes: [
    'Exit code 1: something is wrong. Nothing is changed without --fix.',
    'Logged in as an admin, you are told what only the daemon can see as well.',
  ],
  seeAlso: 'status, logs',
  run: async (context, { flags }) => {
    if (flags.fix) {
      for (const done of mend(homeOf(context.flags.home))) context.out.note(done);
    }
    const findings = joinFindings([
      ...lookAtMachine(homeOf(context.flags.home)),
      ...(await lookAtService(await context.client())),
      ...(await lookAtSession(context)),
    ]);
    show(context, findings);
    if (findings.some(({ status }) => status !== 'ok')) context.exitCode = Exit.failed;
  },
});

const lookAtSession = async (context: Context): Promise<DoctorFinding[]> => {
  const file = sessionFile();
  if (existsSync(file) && statSync(file).mode & 0o077) {
    const detail = `${shortPath(file)} can be read by others on this machine`;
    return [
      warnCheck('session', detail, `chmod 600 ${file}   then: adjutant logout, adjutant login`),
    ];
  }
  if (context.token === undefined) {
    return [
      warnCheck(
        'session',
        `not logged in at ${context.url}`,
        'adjutant login, or: adjutant quickstart',
      ),
    ];
  }
  try {
    const { username, role } = await (await context.client()).auth.me();
    return [okCheck('session', `${username}, ${role}`)];
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 401) return [];
    return [warnCheck('session', 'it has ended', 'adjutant login')];
  }
};

const show = (context: Context, findings: DoctorFinding[]): void => {
  const { out } = context;
  const problems = findings.filter(({ status }) => status !== 'ok');
  if (out.format !== 'table') {
    out.page({ reply: { problems: problems.length, findings }, rows: findings, columns });
    return;
  }
  for (const line of gridOf(findings, out.width)) out.line(line);
  for (const { status, name, detail, remedy } of problems) {
    out.sentence(`${padded(status.toUpperCase(), STATUS_WIDTH)}  ${name}: ${detail}`, SET_IN);
    if (remedy) out.line(`${' '.repeat(STATUS_WIDTH)}  Do: ${remedy}`);
  }
  if (problems.length === 0) out.note('All is well.');
  else out.note(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.`);
};

/** All of it at a glance, as many beside each other as the width allows; what is wrong by its name. */
const gridOf = (findings: DoctorFinding[], width: number): string[] => {
  const across = Math.max(1, Math.min(MOST_ACROSS, Math.floor(width / CELL_WIDTH)));
  const room = Math.floor(width / across);
  const cells = findings.map(({ status, name, detail }) => {
    const word = status === 'ok' ? status : status.toUpperCase();
    const said = status === 'ok' ? `${name} ${oneLine(detail)}` : name;
    return padded(cutToWidth(`${padded(word, STATUS_WIDTH)}  ${said}`, room - GAP), room);
  });
  return Array.from({ length: Math.ceil(cells.length / across) }, (_, row) =>
    cells
      .slice(row * across, (row + 1) * across)
      .join('')
      .trimEnd(),
  );
};
