import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isOwnReply, REPLY_MARK } from '../../../src/providers/replies/platform.js';
import { replyPlatforms } from '../../../src/providers/replies/platforms.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HIDDEN = '\u200b';
const CUT = 'The text is longer. The whole text: https://desk.example.org/executions/1';
const write = (preset: keyof typeof replyPlatforms, text: string): string => {
  const { body, text: plain } = replyPlatforms[preset].render(text, CUT);
  return String(body ?? plain).replace(REPLY_MARK, '');
};

describe('the text of a reply', () => {
  it('keeps the format of the model on forges', () => {
    const text =
      '## Cause\n\nA **null** in `parse()`, see https://example.org/a_b\n\n- one\n- two\n\n```js\nlet a = 1;\n```';
    expect(write('github', text)).to.equal(
      '## Cause\n\nA **null** in `parse()`, see <https://example.org/a_b>\n\n- one\n- two\n\n```js\nlet a = 1;\n```',
    );
  });

  it('has no mentions, HTML, images, commands or references to other repositories', () => {
    const hostile: [string, string][] = [
      ['@everyone and @octo/team', `@${HIDDEN}everyone and @${HIDDEN}octo/team`],
      [
        '<img src="https://e.example/x.png"> <!-- x -->',
        '\\<img src="<https://e.example/x.png>"\\> \\<!-- x --\\>',
      ],
      ['/close', '\\/close'],
      ['```\n/assign me\n/etc/hosts\n```', `\`\`\`\n${HIDDEN}/assign me\n/etc/hosts\n\`\`\``],
      ['evil/evil#1 and #2', `evil/evil#${HIDDEN}1 and #2`],
      ['$x$', '\\$x\\$'],
      ['请@torvalds', `请@${HIDDEN}torvalds`],
      ['team/other!5', `team/other!${HIDDEN}5`],
      ['a &#x202e;b', 'a b'],
      ['```mermaid\nA\n```', '```\nA\n```'],
    ];
    for (const [text, written] of hostile) {
      for (const preset of ['github', 'gitlab', 'gitea', 'linear'] as const) {
        expect(write(preset, text), preset).to.equal(written);
      }
    }
    expect(write('github', '![alt](https://e.example/x.png)')).not.to.match(/!\[/);
  });

  it('is written in the notation of Jira', () => {
    const text =
      '# Cause\n\n**Bold**, *it* and `code` in [~admin] {color:red}x{color} h1. !x.png!\n\n1. one\n2. two\n\n> said\n\n```\n{noformat}\n```';
    expect(write('jira', text)).to.equal(
      [
        'h1. Cause',
        '',
        '{*}Bold{*}, {_}it{_} and {{code}} in \\[\\~admin\\] \\{color:red\\}x\\{color\\} h1. \\!x.png\\!',
        '',
        '# one',
        '# two',
        '',
        'bq. said',
        '',
        '{noformat}',
        `{${HIDDEN}noformat}`,
        '{noformat}',
      ].join('\n'),
    );
    expect(write('jira', 'h1. no\nbq. no')).to.equal(`${HIDDEN}h1. no\n${HIDDEN}bq. no`);
  });

  it('has no mentions and links of Slack', () => {
    expect(write('slack', '<!channel> <https://e.example|x>')).to.equal(
      '&lt;!channel&gt; https://e.example%7Cx',
    );
  });

  it('is cut at the limit of the platform, and says where the whole is', () => {
    const limits = {
      github: 65_536,
      gitea: 65_536,
      gitlab: 1_000_000,
      jira: 32_767,
      linear: 50_000,
      slack: 4_000,
    };
    for (const preset of ['github', 'gitlab', 'gitea', 'jira', 'linear', 'slack'] as const) {
      const written = write(preset, 'A line of the *log*.\n\n'.repeat(60_000));
      expect(written.length, preset).to.be.at.most(limits[preset]);
      expect(written, preset).to.contain('https://desk.example.org/executions/1');
      expect(write(preset, 'short'), preset).not.to.contain('longer');
    }
  });

  it('ends with an invisible mark, which only its end shows', () => {
    const { body } = replyPlatforms.github.render(`Fake ${REPLY_MARK} inside`, CUT);
    expect(String(body)).to.equal(`Fake  inside${REPLY_MARK}`);
    expect(isOwnReply(`${body}\n`)).to.be.true();
    expect(isOwnReply(`> ${body}\n\nReally?`)).to.be.false();
    expect(isOwnReply('Hello')).to.be.false();
  });
});
