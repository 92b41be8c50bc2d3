import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilAtLeast } from '../../harness/app.js';
import { projectRoot } from '../../harness/sources.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/**
 * How each shell says what it would offer in place of the last word; `$SCRIPT` is what `adjutant
 * completion` has printed.
 */
const OFFERS: Record<string, (words: string[]) => string> = {
  bash: (words) => `
    eval "$(cat "$SCRIPT")"
    COMP_WORDS=(adjutant ${words.map(quoted).join(' ')}); COMP_CWORD=${words.length}
    _adjutant adjutant; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words) => `
    autoload -Uz compinit; compinit -u -D
    eval "$(cat "$SCRIPT")"
    compadd() { print -l -- $found; }; _files() { print :files; }
    words=(adjutant ${words.map(quoted).join(' ')}); CURRENT=${words.length + 1}
    [[ $_comps[adjutant] == _adjutant ]] && _adjutant || true`,
  fish: (words) => `
    cat "$SCRIPT" | source
    complete -C ${quoted(`adjutant ${words.join(' ')}`)}`,
};

const quoted = (word: string): string => `'${word}'`;
const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

for (const [shell, offers] of Object.entries(OFFERS)) {
  const isMissing = !isThere(shell);
  const title = `completion in ${shell}${isMissing ? ` (there is no ${shell} on this machine)` : ''}`;
  describe(title, { skip: isMissing }, () => {
    let world: World;
    let folder: string;
    let script: string;
    before(async () => {
      world = await openWorld();
      folder = mkdtempSync(join(tmpdir(), 'adjutant-completion-'));
      const program = join(folder, 'adjutant');
      symlinkSync(join(projectRoot(), 'bin/adjutant.js'), program);
      script = join(folder, 'script');
      const { stdout } = await promisify(execFile)(program, ['completion', shell]);
      writeFileSync(script, stdout);
      for (const name of ['github-issues', 'gitlab']) {
        const trigger = ['--trigger', 'webhook', '--webhook-path', name];
        const action = ['--action', 'notify', '--notify-message', 'x'];
        await world.cli(['hooks', 'create', '--name', name, ...trigger, ...action]);
      }
    });
    after(async () => {
      rmSync(folder, { recursive: true });
      await world.stop();
    });

    const offered = async (...words: string[]): Promise<string[]> => {
      const { stdout } = await promisify(execFile)(shell, ['-c', offers(words)], {
        env: {
          ...process.env,
          PATH: `${folder}:${process.env.PATH}`,
          HOME: folder,
          SCRIPT: script,
          XDG_CACHE_HOME: join(folder, 'cache'),
          ADJUTANT_URL: world.app.url,
        },
      });
      const lines = stdout.split('\n').filter(Boolean);
      return lines.map((line) => line.split('\t')[0] ?? '').sort();
    };

    it('completes commands and verbs', async () => {
      expect(await offered('appr')).to.equal(['approvals']);
      expect(await offered('hooks', 'e')).to.equal(['enable', 'execution', 'executions']);
      expect(await offered('auth', 'tokens', 'c')).to.equal(['create']);
    });

    it('completes flags and their values', async () => {
      expect(await offered('hooks', 'list', '--tr')).to.equal(['--trigger']);
      expect(await offered('hooks', 'create', '--action', 'sp')).to.equal(['spawn_agent']);
      expect(await offered('hooks', 'list', '--output', 't')).to.equal(['table', 'tsv']);
    });

    it('completes the names of what is there', async () => {
      // On a busy machine the daemon may miss the limit; a person presses the key again then.
      const found = await untilAtLeast(() => offered('hooks', 'get', 'gi'), 1);
      expect(found).to.equal(['github-issues', 'gitlab']);
    });
  });
}
