import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../src/client/client.js';
import { startDaemon } from '../harness/daemon.js';
import { median } from './load.js';

const EXECUTABLE = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
/** The starts of which one figure is the mean: the shell counts in steps of 10 ms. */
const STARTS = 15;
const COMMANDS = {
  bare: ['-e', '1'],
  help: [EXECUTABLE, '--help'],
  list: [EXECUTABLE, 'hooks', 'list'],
};

/** The processor time of commands beyond that of a bare `node`, in milliseconds. */
export interface CommandFigures {
  /** That of the bare `node` itself: goals were set where it took 60 to 68 ms. */
  bareMs: number;
  helpMs: number;
  listMs: number;
}

/** Measures commands and a bare `node` one after the other; each figure is the median of the rounds. */
export const measureCommands = async (rounds: number): Promise<CommandFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const daemon = await startDaemon({ home });
  const body = { username: 'owner', password: 'correct horse battery' };
  const { token } = await createClient({ url: daemon.url }).auth.register({ body });
  const env = { ...process.env, ADJUTANT_URL: daemon.url, ADJUTANT_TOKEN: token };
  const taken: CommandFigures[] = [];
  for (let round = 0; round < rounds; round++) {
    const bare = processorMs(COMMANDS.bare, env);
    taken.push({
      bareMs: bare,
      helpMs: processorMs(COMMANDS.help, env) - bare,
      listMs: processorMs(COMMANDS.list, env) - bare,
    });
  }
  await daemon.end('SIGKILL');
  await rm(home, { recursive: true });
  return {
    bareMs: median(taken.map(({ bareMs }) => bareMs)),
    helpMs: median(taken.map(({ helpMs }) => helpMs)),
    listMs: median(taken.map(({ listMs }) => listMs)),
  };
};

/** The mean processor time of several starts of `node` with the arguments, as the shell counts it. */
const processorMs = (args: string[], env: NodeJS.ProcessEnv): number => {
  const script = `for n in $(seq ${STARTS}); do "$@" > /dev/null || exit 1; done; times`;
  const told = execFileSync('sh', ['-c', script, 'sh', process.execPath, ...args], { env });
  const [, children = ''] = told.toString().trim().split('\n');
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return (1000 * seconds.reduce((sum, each) => sum + each, 0)) / STARTS;
};
