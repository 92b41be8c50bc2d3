import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseLinearInput } from '../../../tui/linear/commands.js';
import { rowLine, spokenText, textLines } from '../../../tui/linear/words.js';
import { row } from '../../../tui/parts/row.js';
import { pages } from '../../../tui/screens.js';
import { roots } from '../../../tui/state/locations.js';

export const lab = Lab.script();
const { describe, it } = lab;

const meant = (typed: string, page: keyof typeof pages = 'hooks') =>
  parseLinearInput(typed, pages[page], []);

describe('words that are heard', () => {
  it('say what glyphs, columns and short times say', () => {
    expect(spokenText('issues   enabled   webhook → notify  4d 02:11')).to.equal(
      'issues, enabled, webhook to notify, 4 days 02:11',
    );
    expect(spokenText('ERROR 1m')).to.equal('ERROR 1 minute');
    expect(spokenText('build-2m took 40ms')).to.equal('build-2m took 40ms');
  });

  it('are no bars, and no rules', () => {
    const rows = [row('Executions, peak 3'), row('▁▁▁█ ▃'), row('── end'), []];
    expect(textLines(rows)).to.equal(['Executions, peak 3', '-- end', '']);
    const bar = row(`[########${'·'.repeat(12)}]  40 %  800 of 2,000 runs`);
    expect(textLines([bar, row('[##] stays')])).to.equal(['40 %  800 of 2,000 runs', '[##] stays']);
  });

  it('number a row, name its columns, and leave out the empty ones', () => {
    const cells = [
      { head: 'NAME', text: '  reviewer' },
      { head: 'STATE', text: 'running' },
      { head: 'DOING', text: '' },
      { head: 'AGE', text: '2h' },
    ];
    expect(rowLine(7, { id: 'a', cells })).to.equal('7. reviewer, state running, age 2 hours');
    const mail = [
      { head: 'SUBJECT', text: 'A run of 31m → 30m' },
      { head: 'AGE', text: '5m' },
    ];
    expect(rowLine(1, { id: 'b', cells: mail })).to.equal(
      '1. subject A run of 31m → 30m, age 5 minutes',
    );
  });
});

describe('words that are typed', () => {
  it('are verbs of the page, by their names, phrases and letters', () => {
    expect(meant('Disable 2')).to.equal({ is: 'act', verb: 'pause', rest: '2' });
    expect(meant('D deploy-notify')).to.equal({ is: 'act', verb: 'delete', rest: 'deploy-notify' });
    expect(meant('mark all read', 'inbox')).to.equal({ is: 'act', verb: 'mark-all', rest: '' });
    expect(meant('mark read 3', 'inbox')).to.equal({ is: 'act', verb: 'mark', rest: '3' });
    expect(meant('revoke 1', 'team')).to.equal({ is: 'act', verb: 'delete', rest: '1' });
    expect(parseLinearInput('archive 1', pages.browse, ['archive'])).to.equal({
      is: 'verb',
      name: 'archive',
      rest: '1',
    });
  });

  it('are screens, parts, numbers and the words of the desk', () => {
    for (const root of roots) expect(meant(root)).to.equal({ is: 'screen', root, rest: '' });
    expect(meant('approvals 3')).to.equal({ is: 'screen', root: 'approvals', rest: '3' });
    expect(meant('settings', 'hook')).to.equal({ is: 'tab', tab: 1 });
    expect(meant(' 12 ')).to.equal({ is: 'number', number: 12 });
    expect(meant('find status:error')).to.equal({
      is: 'command',
      command: 'filter',
      rest: 'status:error',
    });
    expect(meant('?')).to.equal({ is: 'command', command: 'help', rest: '' });
    expect(meant('')).to.equal({ is: 'nothing' });
    expect(meant('reboot')).to.equal({ is: 'unknown', word: 'reboot' });
  });

  it('never mean two things: no verb of a page is hidden behind another word', () => {
    for (const page of Object.values(pages)) {
      for (const tab of page.tabs) expect(meant(tab, page.name).is).to.equal('tab');
    }
  });
});
