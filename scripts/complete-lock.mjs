import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Adds to package-lock.json, or to the one that is named, the optional binaries of other platforms that npm left out (it does when a registry mirror
 * lacks one of them). Without their entries `npm ci` refuses the lock file; with them it fetches only this platform's.
 */

const OS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const CPU = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

/** @param {string} name a package name like `@scope/binding-linux-arm64-gnu` */
function platform(name) {
  const words = name.split(/[-/]/);
  return {
    os: OS.filter((os) => words.includes(os)),
    cpu: CPU.filter((cpu) => words.includes(cpu)).slice(0, 1),
    libc: words.includes('musl') ? ['musl'] : [],
  };
}

const before = Object.keys(lock.packages);
const locked = new Set(before.map((key) => key.replace(/^.*node_modules\//, '')));
for (const key of before) {
  const entry = lock.packages[key];
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const { os, cpu, libc } = platform(name);
    if (locked.has(name) || cpu.length === 0) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu,
      ...(entry.dev ? { dev: true } : {}),
      ...(libc.length ? { libc } : {}),
      optional: true,
      // a WebAssembly build says no system; npm must not take it for this one
      os: os.length ? os : ['wasm'],
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${file}: ${Object.keys(lock.packages).length - before.length} entries added`);
