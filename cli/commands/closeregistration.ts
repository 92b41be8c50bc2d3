import { appendFileSync } from 'node:fs';
import { shellWord } from '../../src/kernel/shellword.js';
import type { Context } from '../command.js';
import { isLocalUrl, resolveHome, shortPath } from '../daemon/environment.js';
import { serviceSettingsFile } from '../daemon/install.js';
import { runningDaemon } from '../daemon/process.js';
import { findInstalledService } from '../daemon/service.js';
import { restartDaemon } from './up.js';

/** Not `closed`: an admin can still invite people and programs. */
const NAME = 'ADJUTANT_REGISTRATION';
const VALUE = 'invite';
const SETTING = `${NAME}=${VALUE}`;

/** How the daemon on this machine was started, which determines where its settings are. */
type Started = 'background' | 'service' | 'elsewhere';

/**
 * Offers to require an invite for each new account. Local programs may rely on registration by
 * name and password, so it needs an explicit yes, never `--yes`.
 */
export const offerToCloseRegistration = async (context: Context): Promise<void> => {
  const { ask, flags, out, url } = context;
  if (!isLocalUrl(url)) return;
  const started = startedAs(context);
  if (started === 'elsewhere' || !ask.isPossible || flags.yes) {
    return out.note(`    ${formatRestartHint(context, started)}`);
  }
  out.note('    Programs on this machine can register with a name and a password alone.');
  out.note('    A client behind a proxy that adds no headers counts as such a program.');
  const question = {
    ask: '    Require an invite for each new account, including programs?',
    instead: '--no-input',
  };
  if (!(await ask.agree(question, false)))
    return out.note(`    ${formatRestartHint(context, started)}`);
  if (started === 'service') {
    const file = serviceSettingsFile(resolveHome(flags.home));
    // The last line for a name counts. The first line break ends an unfinished last line.
    appendFileSync(file, `\n${SETTING}\n`, { mode: 0o600 });
    out.note(`    Wrote ${SETTING} to ${shortPath(file)}`);
  }
  await restartDaemon(context, {}, { [NAME]: VALUE });
  if (started === 'background') {
    out.note(`    Later starts read the settings of their shell. Set it there: export ${SETTING}`);
  }
  out.note('    Invite somebody: adjutant users invite');
};

const startedAs = (context: Context): Started => {
  const record = runningDaemon(resolveHome(context.flags.home));
  if (record !== null) return record.url === context.url ? 'background' : 'elsewhere';
  // launchd passes no settings to the service.
  const isHere =
    process.platform !== 'darwin' && findInstalledService(context)?.url === context.url;
  return isHere ? 'service' : 'elsewhere';
};

const formatRestartHint = ({ flags }: Context, started: Started): string => {
  const home = flags.home === undefined ? '' : ` --home ${shellWord(flags.home)}`;
  const file = shellWord(serviceSettingsFile(resolveHome(flags.home)));
  const command = {
    background: `${SETTING} adjutant restart${home}`,
    service: `echo ${SETTING} >> ${file} && adjutant restart${home}`,
    elsewhere: `start the daemon with ${SETTING}`,
  }[started];
  return `To require an invite for each new account: ${command}`;
};
