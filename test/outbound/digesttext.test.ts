import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { digestText, type NoticeGroup, within } from '../../src/outbound/digesttext.js';

export const lab = Lab.script();
const { describe, it } = lab;

const group = (
  about: string | null,
  count: number,
  more: Partial<NoticeGroup> = {},
): NoticeGroup => ({
  ...{ kind: 'hook_failed', about, count, last: `notification_${count}`, title: `${about} failed` },
  body: 'down\nfor good',
  ...more,
});

describe('digestOf', () => {
  it('says how many there were, of whom, and what the last one was', () => {
    const groups = [group('stripe', 40), group('deploy-notify', 60)];
    expect(digestText(groups, 'in 10 minutes', 0)).to.equal({
      title: '100 hook failures in 10 minutes: deploy-notify 60, stripe 40',
      body: 'last: deploy-notify failed: down',
      link: '/notifications',
    });
  });

  it('says that some were told before', () => {
    const { title } = digestText([group(null, 98)], 'in 10 minutes', 2);
    expect(title).to.equal('98 more hook failures in 10 minutes');
  });

  it('names the five loudest, and counts the others together', () => {
    const groups = [1, 2, 3, 4, 5, 6, 7].map((count) => group(`hook-${count}`, count));
    expect(digestText([...groups, group(null, 3)], 'in a minute', 0).title).to.equal(
      '31 hook failures in a minute: hook-7 7, hook-6 6, hook-5 5, hook-4 4, hook-3 3, others 6',
    );
  });

  it('gives each kind a line of its own', () => {
    const other = { kind: 'agent_notice', last: 'notification_z', title: 'Done' };
    const said = digestText([group('a', 2), group(null, 1, other)], 'in your quiet hours', 0);
    expect(said).to.equal({
      title: '3 messages in your quiet hours',
      body: '2 hook failures: a 2; last: a failed: down\n1 agent message; last: Done',
      link: '/notifications',
    });
  });
});

describe('within', () => {
  it('rounds to minutes, and to hours from two on', () => {
    const minutes = [0.2, 1, 10, 119, 120, 480];
    expect(minutes.map((count) => within(count * 60_000))).to.equal([
      'in a minute',
      'in a minute',
      'in 10 minutes',
      'in 119 minutes',
      'in 2 hours',
      'in 8 hours',
    ]);
  });
});
