import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { InvalidSkill, readSkillFile } from '../../src/skills/frontmatter.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('readSkillFile', () => {
  const description = (written: string): string =>
    readSkillFile(`---\nname: pdf\n${written}\n---\nbody`).description;
  const why = (source: string): string => {
    try {
      return JSON.stringify(readSkillFile(source));
    } catch (error) {
      if (error instanceof InvalidSkill) return error.message;
      throw error;
    }
  };

  it('reads name, description and body', () => {
    const source = [
      '\ufeff---',
      'name: pdf-tools # for PDFs',
      'description: "Fills \\"forms\\" – ü"',
      'license: MIT',
      'metadata:',
      '  name: not this',
      '  description: nor this',
      'allowed-tools: shell',
      '---',
      '',
      '# Title',
      '---',
      'rest',
      '',
    ];
    for (const end of ['\n', '\r\n']) {
      expect(readSkillFile(source.join(end))).to.equal({
        name: 'pdf-tools',
        description: 'Fills "forms" – ü',
        body: '# Title\n---\nrest',
      });
    }
  });

  it('reads values as they are written in the wild', () => {
    expect(description('description: Use when: PDFs come in')).to.equal('Use when: PDFs come in');
    expect(description("description: 'it''s here'")).to.equal("it's here");
    expect(description('description: one\n  two\n  three')).to.equal('one two three');
    expect(description('description: >-\n  one\n  two\n\n  three')).to.equal('one two three');
    expect(description('description: |\n  one\n  two')).to.equal('one\ntwo');
    expect(description('description: a\ndescription: b')).to.equal('a');
  });

  it('says what is wrong', () => {
    const with_ = (fields: string) => `---\n${fields}\n---\n`;
    expect(why('# no front matter')).to.equal(
      'SKILL.md does not begin with ---. Add the front matter: a line ---, name, description, and a line ---',
    );
    expect(why('---\nname: x')).to.equal(
      'The front matter of SKILL.md has no closing line ---. Add the line below the last field',
    );
    expect(why(with_('description: x'))).to.equal(
      'The front matter of SKILL.md has no name. Add a line such as name: my-skill',
    );
    expect(why(with_('name: x'))).to.equal(
      'The front matter of SKILL.md has no description. Add a line such as description: When to use the skill',
    );
    const name =
      'The name in SKILL.md must be 1 to 64 characters: a–z and 0–9, with single hyphens between them';
    for (const bad of ['Pdf', '-a', 'a-', 'a--b', 'a b', '../a', 'a'.repeat(65)]) {
      expect(why(with_(`name: ${bad}\ndescription: x`))).to.equal(name);
    }
    expect(why(with_(`name: a\ndescription: ${'x'.repeat(1025)}`))).to.equal(
      'The description in SKILL.md has more than 1024 characters. Shorten the description',
    );
  });
});
