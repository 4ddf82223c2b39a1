/** White or black, whichever is easier to read on a colour. */
export function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff';
}

const LIGHT = '--bg:#fff;--ink:#1a1a1a;--soft:#595959;--line:#d8d8d8;--mine:#efefef;color-scheme:light';
const DARK = '--bg:#1b1c1e;--ink:#f2f2f2;--soft:#b4b4b4;--line:#3c3e42;--mine:#2b2d30;color-scheme:dark';

/** As a sheet that a script makes: a page that forbids inline styles allows it. */
export function sheetFor({ colour, scheme }: { colour: string; scheme: 'light' | 'dark' | 'auto' }): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  const dark = scheme === 'auto' ? `@media(prefers-color-scheme:dark){:host{${DARK}}}` : '';
  sheet.replaceSync(`
:host{all:initial;${scheme === 'dark' ? DARK : LIGHT};--c:${colour};--on:${inkOn(colour)};font:15px/1.45 system-ui,sans-serif}
${dark}
*{box-sizing:border-box;font:inherit}
[hidden]{display:none!important}
:focus-visible{outline:3px solid var(--c);outline-offset:2px}
.open{position:fixed;right:20px;bottom:20px;z-index:2147483000;width:56px;height:56px;border:0;border-radius:50%;background:var(--c);color:var(--on);cursor:pointer;box-shadow:0 4px 16px #0004;padding:15px}
.open svg{display:block;width:26px;height:26px;fill:currentColor}
.open.news::after{content:"";position:absolute;top:0;right:0;width:14px;height:14px;border-radius:50%;background:#d22;border:2px solid var(--bg)}
.panel{position:fixed;right:20px;bottom:88px;z-index:2147483000;width:min(380px,calc(100vw - 24px));height:min(600px,calc(100vh - 110px));display:flex;flex-direction:column;background:var(--bg);color:var(--ink);border:1px solid var(--line);border-radius:14px;overflow:hidden;box-shadow:0 8px 40px #0005}
.panel.page{inset:0;width:auto;height:auto;border:0;border-radius:0;box-shadow:none}
.page .log,.page form,.page .foot{width:100%;max-width:760px;margin-inline:auto}
header{display:flex;align-items:center;gap:8px;padding:12px 14px;background:var(--c);color:var(--on)}
h1,h2{flex:1;margin:0;font-weight:600;overflow-wrap:anywhere}
header button{border:0;background:none;color:inherit;cursor:pointer;padding:4px 8px;border-radius:6px}
header :focus-visible{outline-color:var(--on)}
.log{flex:1;overflow-y:auto;padding:14px;display:flex;flex-direction:column;gap:10px}
.log p{margin:0;max-width:88%;padding:8px 12px;border-radius:12px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
.visitor{align-self:flex-end;background:var(--mine)}
.agent,.person{align-self:flex-start;border:1px solid var(--line)}
.person{border-color:var(--c);border-width:2px}
.log .notice{align-self:center;text-align:center;color:var(--soft);font-size:13px;padding:2px}
a{color:inherit;text-decoration:underline}
b{font-weight:600}
code{font-family:ui-monospace,monospace;font-size:.92em}
.hint{margin:0;padding:0 14px 6px;color:var(--soft);font-size:13px;min-height:1.6em}
form{display:flex;gap:8px;padding:10px 12px;border-top:1px solid var(--line)}
textarea{flex:1;resize:none;max-height:120px;padding:8px 10px;border:1px solid var(--soft);border-radius:10px;background:var(--bg);color:var(--ink)}
form button{border:0;border-radius:10px;padding:8px 14px;background:var(--c);color:var(--on);cursor:pointer}
button:disabled{opacity:.6;cursor:default}
.foot{padding:0 12px 10px}
.foot button{border:0;background:none;color:var(--soft);text-decoration:underline;cursor:pointer;padding:4px;font-size:13px}
@media(max-width:480px){.panel{inset:0;width:auto;height:auto;border:0;border-radius:0}}
`);
  return sheet;
}
