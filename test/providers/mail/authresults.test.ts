import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  authenticationIn,
  parseAuthservId,
  parseHeaderFields,
} from '../../../src/providers/mail/authentication.js';

export const lab = Lab.script();
const { describe, it } = lab;

const FOREIGN = 'Received: from evil.example ([203.0.113.9]) by mx.example.test';

/** The results for a message from bank.example, in the order spf, dkim, dmarc. */
const found = (value: string, from = 'ceo@bank.example'): string => {
  const fields = parseHeaderFields(`Authentication-Results: ${value}\r\n${FOREIGN}\r\n`);
  const all = authenticationIn(fields, { authservId: 'MX.example.test', from });
  return all ? `${all.spf} ${all.dkim} ${all.dmarc}` : 'null';
};
const of = (clauses: string, from?: string): string => found(`mx.example.test; ${clauses}`, from);

describe('the authentication results of a message', () => {
  it('are not found in comments, in quotes and in the values of properties', () => {
    const sender = '"x dkim=pass dmarc=pass y"@evil.example';
    expect(of(`spf=pass (of ${sender} designates 192.0.2.9) smtp.mailfrom=${sender}`)).to.equal(
      'pass none none',
    );
    expect(
      of('spf=fail smtp.mailfrom="a; dkim=pass; dmarc=pass"@evil.example; dkim=fail; dmarc=fail'),
    ).to.equal('fail fail fail');
    expect(
      of('spf=fail (said: dkim=pass dmarc=pass) smtp.mailfrom=e@evil; dkim=fail header.d=evil'),
    ).to.equal('fail fail none');
    expect(of('dkim=fail reason="x; spf=pass; dmarc=pass"; spf=fail')).to.equal('fail fail none');
    expect(of('spf=fail (a (b; dmarc=pass) ; dkim=pass \\) ; dkim=pass); dmarc=none')).to.equal(
      'fail none none',
    );
    expect(of('spf=fail reason="a\\"; dkim=pass; dmarc=pass"')).to.equal('fail none none');
    expect(of('spf=fail (never closed; dkim=pass; dmarc=pass')).to.equal('fail none none');
    expect(of('spf=fail "never closed; dkim=pass; dmarc=pass')).to.equal('fail none none');
    expect(of('spf=fail smtp.mailfrom=a dkim=pass dmarc=pass')).to.equal('fail none none');
    expect(of('"dkim"=pass; dmarc="pass"; x-spf=pass; spf=passed; dkim=pass=fail')).to.equal(
      'passed none none',
    );
  });

  it('are read with comments, versions and blanks where the format has them', () => {
    const value =
      '(by) MX.example.test (x) 1 ; spf (a) = (b) pass smtp . mailfrom=bank.example ; ' +
      'DKIM/1=Pass (2048-bit key) header.i=@bank.example header.s=s; dmarc=pass (p=none) header.from=bank.example';
    expect(found(value)).to.equal('pass pass pass');
    expect(found('other.example; dmarc=pass')).to.equal('null');
    expect(found('"mx.example.test"; none')).to.equal('none none none');
    expect(parseAuthservId('Authentication-Results: (a (b)) "MX.Example.test" 1; none')).to.equal(
      'mx.example.test',
    );
    expect(parseAuthservId('Authentication-Results: (mx.example.test; none')).to.be.null();
  });

  it('count a signature of the domain of the sender alone', () => {
    const [evil, bank] = ['dkim=pass header.d=evil.example', 'dkim=fail header.d=bank.example'];
    expect(of(`${evil}; ${bank}`)).to.equal('none fail none');
    expect(of(`${bank}; ${evil}`)).to.equal('none fail none');
    expect(of(evil)).to.equal('none none none');
    expect(of(`${evil}; dkim=pass header.d=bank.example`)).to.equal('none pass none');
    expect(of('dkim=fail header.d=list.example; dkim=pass header.d="Bank.example"')).to.equal(
      'none pass none',
    );
    expect(of('dkim=pass header.d=bank.example', 'a@mail.bank.example')).to.equal('none pass none');
    expect(of('dkim=pass header.d=mail.bank.example')).to.equal('none pass none');
    expect(of('dkim=pass header.d=notbank.example')).to.equal('none none none');
    expect(of('dkim=pass header.d=example')).to.equal('none none none');
    expect(of('dkim=pass header.d=bank.example', '')).to.equal('none none none');
    expect(of('dkim=pass; dkim=fail')).to.equal('none fail none');
    expect(of('dkim=pass')).to.equal('none pass none');
  });

  it('end where another server begins, whatever name that server gives itself', () => {
    const results = 'Authentication-Results: mx.example.test; spf=pass; dkim=pass; dmarc=pass';
    const below = (received: string) => {
      const fields = parseHeaderFields(`Received: ${received}\r\n${results}\r\n`);
      return authenticationIn(fields, { authservId: 'mx.example.test', from: 'a@bank.example' });
    };
    for (const foreign of [
      'from [10.0.0.1] (mail.evil.example [8.8.8.8]) by mx.example.test with ESMTP',
      'from [127.0.0.1] (helo=[10.0.0.1]) by x (evil.example [8.8.8.8]) by mx.example.test',
      'from [8.8.8.8] (helo=[10.0.0.1]) by mx.example.test',
      'from unknown (HELO [10.0.0.1]) (8.8.8.8) by mx.example.test',
      'from 10.0.0.1 (evil.example [IPv6:2001:4860::8888]) by mx.example.test',
      'from [10.0.0.1] (evil.example [not an address]) by mx.example.test',
      'from evil.example by mx.example.test',
    ]) {
      expect(below(foreign), foreign).to.be.null();
    }
    for (const own of [
      'from relay (relay.example.test [10.0.0.1]) by mx.example.test ([8.8.8.8]) with ESMTP',
      'from localhost ([IPv6:::1]) by mx.example.test',
      'by mx.example.test (Postfix, from userid 0)',
    ]) {
      expect(below(own), own).to.include({ dmarc: 'pass' });
    }
  });

  it('count a DMARC pass of the domain of the only sender alone', () => {
    const pass = 'dmarc=pass header.from=bank.example';
    expect(of(pass)).to.equal('none none pass');
    expect(of('dmarc=pass')).to.equal('none none pass');
    expect(of(pass, 'ceo@mail.bank.example')).to.equal('none none none');
    expect(of(pass, 'ceo@BANK.example')).to.equal('none none pass');
    expect(of('dmarc=pass header.from=xn--bnk-qla.example', 'ceo@bänk.example')).to.equal(
      'none none pass',
    );
    for (const clauses of [pass, 'dmarc=pass', 'dkim=pass header.d=bank.example']) {
      expect(of(clauses, '')).to.equal('none none none');
    }
  });

  it('pass with several results of a method if all of them do', () => {
    expect(of('spf=pass; spf=fail; dmarc=pass; dmarc=fail')).to.equal('fail none fail');
    expect(of('spf=none smtp.helo=x; spf=pass smtp.mailfrom=bank.example')).to.equal(
      'pass none none',
    );
    expect(of('spf=pass smtp.helo=x; spf=softfail smtp.mailfrom=bank.example')).to.equal(
      'softfail none none',
    );
  });
});
