import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  extractJson,
  isSupportedByQuotes,
  parseAnswer,
  quoteFinder,
} from '../../src/knowledge/quotes.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LEASE =
  'It is impermissible to sublet the house. The rent is 2400 euros for 10 rooms. Deposit unpaid.';

describe('a quote', () => {
  const found = (text: string, quote: string): string | null => {
    const place = quoteFinder(text)(quote);
    return place && text.slice(place.from, place.to);
  };

  it('stands in a text in whole words alone', () => {
    expect(found(LEASE, 'impermissible to sublet')).to.equal('impermissible to sublet');
    expect(found(LEASE, 'permissible to sublet')).to.be.null();
    expect(found(LEASE, '400 euros for 10')).to.be.null();
    expect(found(LEASE, 'The rent is 2400 euro')).to.be.null();
    expect(found('unlawful acts, lawful acts', 'lawful acts')).to.equal('lawful acts');
    expect(found('The (“whole”) sentence', '“whole”) sentence')).to.equal('“whole”) sentence');
  });

  it('ends within no number, and has its sign', () => {
    const text =
      'The fine is 10,000 euros, or 12 500 crowns. A balance of -500 euros at 10:30. 1.5 bar.';
    for (const cut of [
      'The fine is 10',
      'The fine is 10,',
      '000 euros, or 12',
      'euros, or 12 500',
    ]) {
      expect(found(text, cut), cut).to.equal(cut === 'euros, or 12 500' ? cut : null);
    }
    expect(found(text, '500 euros at')).to.be.null();
    expect(found(text, '-500 euros at')).to.equal('-500 euros at');
    expect(found(text, 'euros at 10')).to.be.null();
    expect(found(text, '500 crowns.')).to.be.null();
    expect(found('From 10-500 euros', '500 euros')).to.equal('500 euros');
    expect(found('It cost 10, 000 was the code', 'It cost 10')).to.equal('It cost 10');
  });

  it('stands within a run of a script without spaces', () => {
    expect(found('東京都庁の展望室は無料で入れます', '展望室は無料')).to.equal('展望室は無料');
  });

  it('is the same with combined accents and without', () => {
    const text = 'Die Prüfung der Häuser beginnt, Ende.';
    const [composed, combined] = [text.normalize('NFC'), text.normalize('NFD')];
    expect(combined === composed).to.be.false();
    for (const [source, other] of [
      [composed, combined],
      [combined, composed],
    ] as const) {
      const quote = 'Prüfung der Häuser'.normalize(other === combined ? 'NFD' : 'NFC');
      const place = found(source, quote);
      expect(place?.normalize('NFC')).to.equal('Prüfung der Häuser'.normalize('NFC'));
    }
    expect(found('cafe\u0301', 'caf\u00e9')).to.equal('cafe\u0301');
    expect(found('the cafe\u0301', 'the cafe')).to.be.null();
  });

  it('is looked for whatever the text', () => {
    const words = 'ab '.repeat(100_000);
    const marks = `a${'\u0301\u0323'.repeat(100_000)}`;
    expect(found('a'.repeat(200_000), 'a'.repeat(4000))).to.be.null();
    expect(found(words, `${'ab '.repeat(1300)}a`)).to.be.null();
    expect(found(marks, 'hello world')).to.be.null();
  });
});

describe('the JSON in the answer of a model', () => {
  it('is the first object, whatever stands around it', () => {
    const json = '{"a":"} \\" {","b":{"c":1}}';
    const read = { a: '} " {', b: { c: 1 } };
    expect(extractJson(`\`\`\`json\n${json}\n\`\`\` Replace {name} and {"a":2}.`, 'a')).to.equal(
      read,
    );
    expect(extractJson(`The shape {n} has {"d":2}: ${json}`, 'a')).to.equal(read);
    expect(extractJson(`Here { it is: ${json}`, 'a')).to.equal(read);
    expect(extractJson('{"a":', 'a')).to.be.undefined();
    expect(extractJson('none', 'a')).to.be.undefined();
  });

  it('is looked for without an end', () => {
    expect(extractJson(`{"a":"${'\\"'.repeat(500_000)}`, 'a')).to.be.undefined();
    expect(extractJson('{'.repeat(500_000), 'a')).to.be.undefined();
  });

  it('is no answer if nothing in its list is a sentence', () => {
    expect(parseAnswer('{"sentences":[]}')).to.equal({ sentences: [], isWhole: true });
    expect(parseAnswer('{"sentences":[null]}')).to.be.null();
    expect(parseAnswer('{"sentences":[null,{"text":"Yes."}]}')).to.equal({
      sentences: [{ text: 'Yes.', quotes: [] }],
      isWhole: false,
    });
  });
});

describe('a sentence', () => {
  const rent = [{ quote: 'The rent is 2400 euros for 10 rooms.' }];

  it('is proved by a quote that it is part of in whole words', () => {
    expect(isSupportedByQuotes('2400 euros', rent)).to.be.true();
    expect(isSupportedByQuotes('400 euros', rent)).to.be.false();
    expect(isSupportedByQuotes('It is 400 euros.', rent)).to.be.false();
  });

  it('has no numbers but those of its quotes', () => {
    expect(isSupportedByQuotes('The rent is 2400 euros.', rent)).to.be.true();
    expect(isSupportedByQuotes('Yes, the rent is 900 euros.', rent)).to.be.false();
    expect(isSupportedByQuotes('The rent is 10.2400 euros.', rent)).to.be.false();
    expect(isSupportedByQuotes('By source 3 it is 2400.', rent)).to.be.false();
    const date = [{ quote: 'From 5.3.2024 at 10:30, for 1,200.50 euros' }];
    expect(isSupportedByQuotes('It begins on 5.3.2024 at 10:30.', date)).to.be.true();
    expect(isSupportedByQuotes('It costs 1,200 euros.', date)).to.be.false();
    expect(isSupportedByQuotes('It costs ½ million.', date)).to.be.false();
    const debt = [{ quote: 'The balance was -500 euros.' }];
    expect(isSupportedByQuotes('A balance of 500 euros.', debt)).to.be.false();
    expect(isSupportedByQuotes('A balance of \u2212500 euros.', debt)).to.be.true();
  });

  it('has a quote of its own, however often one is given, and wherever it begins', () => {
    const server = { quote: 'The staging server is argon' };
    const mayor = { quote: 'the mayor of Bern' };
    const two = 'The server is argon. Bob stole the money.';
    expect(isSupportedByQuotes(two, [server])).to.be.false();
    expect(
      isSupportedByQuotes(two, [server, server, { quote: 'the  staging server' }]),
    ).to.be.false();
    expect(isSupportedByQuotes(two, [server, { quote: 'server is argon' }])).to.be.false();
    expect(isSupportedByQuotes(two, [server, mayor])).to.be.true();
    expect(isSupportedByQuotes('The server is argon.Bob stole it.', [server])).to.be.false();
  });
});
