// Makes a home for one run of Gemini CLI: the user's own `.gemini`, entry by entry, but for settings and trust.
//
//   node gemini-home.mjs OWN      OWN is the user's `.gemini`; what is made lies beside this file, in `home/.gemini`
//
// An order that lies here as a command, `gemini-order.toml`, is one there besides the user's: `order-RUN`.
// The settings are the user's; `gemini-defaults.json` holds where they say nothing, `gemini-settings.json` always.
// The user's hooks stay. Conversations and logins are the user's: their files and folders are linked.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OURS = ["commands", "settings.json", "trustedFolders.json"];
const SHARED = ["history", "tmp"];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function merged(under, over) {
  const made = { ...under };
  for (const [key, value] of Object.entries(over)) {
    made[key] = isObject(value) && isObject(made[key]) ? merged(made[key], value) : value;
  }
  return made;
}

// Settings may hold comments, which begin outside of a string.
function withoutComments(text) {
  return text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => (found[0] === '"' ? found : ""));
}

// Each entry of a folder, but for some, becomes a link in another one.
function link(from, to, but = []) {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (!statSync(from, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(from)) {
    if (!but.includes(name)) symlinkSync(join(from, name), join(to, name));
  }
}

function read(path) {
  if (!existsSync(path)) return {};
  const text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
  const value = text.trim() ? JSON.parse(withoutComments(text)) : {};
  if (!isObject(value)) throw new Error(`${path} is no JSON object`);
  return value;
}

function joined(users, ours) {
  const made = { ...users };
  for (const [name, hooks] of Object.entries(ours)) {
    made[name] = [...(Array.isArray(users[name]) ? users[name] : []), ...hooks];
  }
  return made;
}

const here = dirname(fileURLToPath(import.meta.url));
const own = process.argv[2];
const order = join(here, "gemini-order.toml");
const made = join(here, "home", ".gemini");
rmSync(join(here, "home"), { recursive: true, force: true });
for (const name of SHARED) mkdirSync(join(own, name), { recursive: true, mode: 0o700 });
link(own, made, OURS);
link(join(own, "commands"), join(made, "commands"));
if (existsSync(order)) copyFileSync(order, join(made, "commands", `order-${basename(here)}.toml`));

const users = read(join(own, "settings.json"));
const ours = read(join(here, "gemini-settings.json"));
const settings = merged(merged(read(join(here, "gemini-defaults.json")), users), ours);
settings.hooks = joined(isObject(users.hooks) ? users.hooks : {}, ours.hooks);
writeFileSync(join(made, "settings.json"), JSON.stringify(settings, null, 1), { mode: 0o600 });
