import { z } from 'zod';

/** Tells what loading the contract and the kernel did, and then what the contract says of each endpoint, for later.test.ts. */
let made = 0;
z.config({ postProcessor: () => void (made += 1) } as Parameters<typeof z.config>[0]);
const { allEndpoints, openApi } = await import('@troupe/contract');
const all = allEndpoints();
const madeByLoading = made;
await import('@troupe/kernel');
const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
const loaded = moduleLoadList.filter((name) => /undici|http2/.test(name));
const documents = all.map((one) => JSON.stringify(openApi([one], { title: '', version: '', url: '' })));
console.log(JSON.stringify({ madeByLoading, made, loaded, documents }));
