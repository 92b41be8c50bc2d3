import { existsSync, statSync } from 'node:fs';
import { ApiError } from '../../src/client/errors.js';
import { sessionFile } from '../../src/client/session.js';
import type { Column } from '../columns.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { type Finding, fine, warn } from '../daemon/finding.js';
import { aimed } from '../daemon/here.js';
import { lookAtMachine } from '../daemon/machine.js';
import { lookAtService } from '../daemon/service.js';
import { Exit } from '../exit.js';
import { shortPath } from '../paths.js';
import { oneLine, padded } from '../text.js';

const STATUS_WIDTH = 4;

const columns: Column<Finding>[] = [
  { name: 'status', value: ({ status }) => status },
  { name: 'name', value: ({ name }) => name },
  { name: 'detail', value: ({ detail }) => detail },
  { name: 'remedy', value: ({ remedy }) => remedy },
];

export const doctor = command({
  name: 'doctor',
  summary: 'Look for what is wrong, and say what to do about it',
  examples: ['doctor', 'doctor --json', 'doctor --home /srv/adjutant --url http://127.0.0.1:3006'],
  notes: ['Exit code 1: something is wrong. Nothing is changed.'],
  seeAlso: 'status, logs',
  run: async (context) => {
    const there = aimed(context);
    const findings = [
      ...lookAtMachine(homeOf(context.flags.home)),
      ...(await lookAtService(await there.client())),
      ...(await lookAtSession(there)),
    ];
    show(there, findings);
    if (findings.some(({ status }) => status !== 'ok')) context.exitCode = Exit.failed;
  },
});

const lookAtSession = async (context: Context): Promise<Finding[]> => {
  const file = sessionFile();
  if (existsSync(file) && statSync(file).mode & 0o077) {
    const detail = `${shortPath(file)} can be read by others on this machine`;
    return [warn('session', detail, `chmod 600 ${file}   then: adjutant logout, adjutant login`)];
  }
  if (context.token === undefined) {
    return [
      warn('session', `not logged in at ${context.url}`, 'adjutant login, or: adjutant quickstart'),
    ];
  }
  try {
    const { username, role } = await (await context.client()).auth.me();
    return [fine('session', `${username}, ${role}`)];
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 401) return [];
    return [warn('session', 'it has ended', 'adjutant login')];
  }
};

const show = ({ out }: Context, findings: Finding[]): void => {
  const problems = findings.filter(({ status }) => status !== 'ok').length;
  if (out.format !== 'table') {
    out.page({ reply: { problems, findings }, rows: findings, columns });
    return;
  }
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { status, name, detail, remedy } of findings) {
    const word = status === 'ok' ? status : status.toUpperCase();
    out.line(`${padded(word, STATUS_WIDTH)}  ${padded(name, width)}  ${oneLine(detail)}`);
    if (remedy) out.line(`${' '.repeat(STATUS_WIDTH)}  Do: ${remedy}`);
  }
  if (problems === 0) out.note('All is well.');
  else out.note(`${problems} ${problems === 1 ? 'problem' : 'problems'}.`);
};
