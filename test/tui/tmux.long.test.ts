import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { saveSession } from '../../src/client/session.js';
import { openConfig } from '../cli/config.js';
import { type Editor, openEditor } from '../cli/editor.js';
import { PASSWORD, until, untilMatches } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { openTmux, type Tmux, tmuxMissing } from '../harness/tmux.js';

export const lab = Lab.script();
const { describe, before, after, it } = lab;

const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const START = `node ${BIN} tui --theme dark; echo ended $?`;
const missing = tmuxMissing();
const title = missing === null ? 'desk in a terminal' : `desk in a terminal (skipped: ${missing})`;

describe(title, { skip: missing !== null }, () => {
  let home: string;
  let config: Awaited<ReturnType<typeof openConfig>>;
  let daemon: Daemon;
  let port: string;
  let tmux: Tmux;
  let editor: Editor;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-tui-'));
    config = await openConfig();
    daemon = await startDaemon({ home });
    port = new URL(daemon.url).port;
    const client = createClient({ url: daemon.url });
    const { token } = await client.auth.register({ body: { username: 'ada', password: PASSWORD } });
    saveSession(daemon.url, { token, username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' });
    await client.with({ token }).hooks.create({
      body: {
        name: 'github-issues',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'issues', webhookSecret: 'secret' },
        action: 'notify',
        actionConfig: { notifyMessage: 'Got it' },
      },
    });
    editor = await openEditor();
    await editor.script('s/"cooldownMs": 0/"cooldownMs": 7000/');
    const { EDITOR = '' } = process.env;
    const env = { XDG_CONFIG_HOME: config.folder, ADJUTANT_URL: daemon.url, EDITOR };
    tmux = await openTmux({ width: 80, height: 24, env });
  });

  after(async () => {
    await tmux.close();
    await editor.close();
    await daemon.end('SIGKILL');
    await config.close();
    await rm(home, { recursive: true, force: true });
  });

  const open = async (): Promise<void> => {
    await tmux.line(`clear; stty -a > ${join(home, 'before')}`);
    await tmux.line(START);
    await tmux.wait('live');
  };
  const isRestored = async (): Promise<void> => {
    await untilMatches(() => tmux.tell('#{alternate_on} #{cursor_flag} #{wrap_flag}'), '0 1 1');
    await tmux.line(`clear; stty -a | cmp - ${join(home, 'before')} && echo the same`);
    await tmux.wait('the same');
  };

  it('walks the screens, and leaves the terminal as it was', async () => {
    await open();
    await tmux.wait('Needs you');
    expect(await tmux.tell('#{alternate_on}')).to.equal('1');
    await tmux.shows('Latest executions of github-issues', '2');
    await tmux.shows('path issues   secret set', 'Enter');
    await tmux.shows('Payload URL', ']');
    await tmux.keys('Escape');
    for (const [key, text] of [
      ['3', 'No agents yet'],
      ['4', 'No pending approvals'],
      ['5', 'No notifications yet'],
      ['6', 'No credentials yet'],
      ['7', 'digest'],
      ['8', 'No tunnel is set up'],
      ['9', 'ada '],
      ['0', '[0Logs]'],
    ] as const) {
      await tmux.shows(text, key);
    }
    await tmux.shows('Help: Logs', '?');
    await tmux.shows('ended 0', 'q', 'q');
    await isRestored();
  });

  it('does what a key says, and shows what the daemon answered', async () => {
    await open();
    await tmux.shows('github-issues', '2');
    await tmux.shows('github-issues is disabled', 'p');
    await tmux.shows('github-issues is enabled', 's');
    await tmux.shows('ended 0', 'C-c');
  });

  it('edits in the editor, and comes back to the row as it is now', async () => {
    await open();
    await tmux.shows('github-issues', '2');
    await tmux.shows('Updated github-issues.', 'e');
    await tmux.shows('[2Hooks]', 'Enter');
    await tmux.shows('cooldown 0:07', 'Enter', ']');
    await tmux.shows('ended 0', 'C-c');
  });

  it('fits after every resize', async () => {
    await open();
    await tmux.shows('github-issues', '2');
    for (const [width, height] of [
      [140, 40],
      [60, 16],
      [80, 24],
    ] as const) {
      await tmux.resize(width, height);
      const frame = await until(tmux.frame, (text) => {
        const lines = text.split('\n').slice(0, height);
        const hints = lines.findLastIndex((line) => line.trim() !== '');
        return lines[0]?.trimEnd().length === width && hints === height - 1;
      });
      expect(frame.match(/Adjutant /g)).to.have.length(1);
    }
    await tmux.resize(40, 10);
    await tmux.wait('needs 60x16');
    await tmux.shows('ended 0', 'q');
    await tmux.resize(80, 24);
  });

  it('survives the daemon: lost, readable, and live again', async () => {
    await open();
    await tmux.shows('github-issues', '2');
    await daemon.end('SIGKILL');
    const lost = await tmux.wait('LOST');
    expect(lost).to.contain('github-issues');
    await tmux.shows('No connection to the daemon', 'p');
    daemon = await startDaemon({ home, env: { ADJUTANT_PORT: port } });
    await tmux.wait('live');
    await tmux.wait('was reloaded');
    await tmux.shows('ended 0', 'q');
  });

  it('comes back from being suspended', async () => {
    await open();
    await tmux.shows('Stopped', 'C-z');
    expect(await tmux.tell('#{alternate_on} #{cursor_flag}')).to.equal('0 1');
    await tmux.line('fg');
    await tmux.wait('Needs you');
    await tmux.shows('ready$', 'q');
    await isRestored();
  });

  it('takes the terminal anew after another process stopped it', async () => {
    await open();
    process.kill(await tmux.pidOf('adjutant.js tui'), 'SIGSTOP');
    await tmux.wait('Stopped');
    await tmux.line('clear; fg');
    await tmux.wait('Needs you');
    await tmux.shows('github-issues', '2');
    await tmux.shows('ready$', 'q');
    await isRestored();
  });

  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGKILL'] as const) {
    it(`restores the terminal after ${signal}`, async () => {
      await open();
      process.kill(await tmux.pidOf('adjutant.js tui'), signal);
      await tmux.wait('ended');
      await isRestored();
    });
  }
});
