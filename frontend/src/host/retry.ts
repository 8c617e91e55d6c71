// Which calls may be sent twice. When the link breaks while a call is under way, nobody knows
// whether the core did it; these are repeated after the reconnect, the others fail with a sentence.
import type { CallName } from "./api.gen";

const repeatable: Record<CallName, boolean> = {
  "projects.list": true,
  "projects.add": true,
  "projects.sample": true, // adding again returns the same project
  "projects.remove": false,
  "projects.relocate": true,
  "projects.move": true,
  "workspaces.pin": true,
  "workspaces.files": true,
  "workspaces.move": true,
  "workspaces.markUnseen": true,
  "system.atStake": true,
  "system.quit": false,
  "system.layout": true,
  "system.setLayout": true,
  "projects.setTrust": true,
  "projects.firstCommit": true, // a second one is not made
  "projects.branches": true,
  "projects.drop": false,
  "projects.browse": true,
  "workspaces.list": true,
  "workspaces.create": false,
  "workspaces.rename": true,
  "workspaces.setBase": true,
  "workspaces.archive": true,
  "workspaces.unarchive": true,
  "workspaces.atRisk": true,
  "workspaces.delete": false,
  "workspaces.repair": false,
  "workspaces.setModel": true,
  "workspaces.setAutoRetry": true,
  "workspaces.fork": false,
  "workspaces.markSeen": true,
  "workspaces.diff": true,
  "workspaces.initLog": true,
  "workspaces.retryInit": false,
  "workspaces.refreshGit": true,
  "conversations.open": true,
  "conversations.page": true,
  "conversations.queued": true,
  "conversations.entry": true,
  "conversations.find": true,
  "conversations.raw": true,
  "conversations.startHere": false,
  "conversations.undoStart": false,
  "conversations.send": true, // the message carries an id
  "conversations.interrupt": true,
  "conversations.removeQueued": true,
  "conversations.editQueued": true,
  "conversations.moveQueued": true,
  "conversations.editMessage": true, // as send
  "conversations.retry": false,
  "conversations.stopRetry": true,
  "conversations.clear": true,
  "conversations.setDraft": true,
  "conversations.release": true,
  "conversations.setMode": true,
  "permissions.get": true,
  "permissions.answer": false, // the next question of the call's could be another one
  "permissions.grant": true,
  "permissions.revoke": true,
  "permissions.saved": true,
  "permissions.setSandbox": true,
  "conversations.export": true,
  "sandbox.status": true,
  "sandbox.plan": true,
  "sandbox.decisions": true,
  "sandbox.allow": true,
  "sandbox.set": true,
  "sandbox.quarantine": true,
  "sandbox.restore": false,
  "sandbox.settings": true,
  "sandbox.setSettings": true,
  "conversations.saveExport": false, // each is another file
  "settings.get": true,
  "settings.set": true,
  "settings.values": true,
  "settings.put": true,
  "settings.models": true,
  "settings.model": true,
  "settings.providers": true,
  "settings.setProvider": true,
  "settings.addProvider": false,
  "settings.removeProvider": true,
  "settings.testProvider": true,
  "settings.suggestModels": true,
  "settings.addModel": true,
  "settings.removeModel": true,
  "settings.fallbacks": true,
  "settings.setFallback": true,
  "settings.coder": true,
  "settings.loginCoder": false,
  "settings.cancelCoder": true,
  "settings.awaitCoder": true,
  "settings.logoutCoder": true,
  "settings.refreshCoder": true,
  "settings.loadCoderCatalog": true,
  "settings.setCoderRoute": true,
  "settings.setModelRoute": true,
  "costs.summary": true,
  "costs.setBudget": true,
  "search.find": true,
  "system.about": true,
  "system.doctor": true,
  "system.pickFolder": false,
  "system.raise": true,
  "system.openURL": false,
  "system.showFile": false,
  "terminals.list": true,
  "terminals.open": false,
  "terminals.close": true,
  "terminals.rename": true,
  "terminals.type": false,
  "terminals.editors": true,
  "terminals.openEditor": false,
  "output.read": true,
  "output.setLevel": true,
  "output.clear": false,
  "output.openFile": false,
};

/** Whether a call may be sent again when nobody knows whether it arrived. */
export function mayRepeat(name: string): boolean {
  return (repeatable as Record<string, boolean | undefined>)[name] ?? false;
}

const seconds = 1000;
const timeouts: Partial<Record<CallName, number>> = {
  "workspaces.create": 15 * 60 * seconds, // a large checkout with submodules
  "workspaces.repair": 15 * 60 * seconds,
  "workspaces.delete": 2 * 60 * seconds,
  "workspaces.diff": 60 * seconds,
  "conversations.export": 60 * seconds,
  "conversations.saveExport": 2 * 60 * seconds, // of any length
  "settings.awaitCoder": Number.POSITIVE_INFINITY, // a person decides
  "settings.loadCoderCatalog": 5 * 60 * seconds, // many providers
  "system.doctor": 60 * seconds,
  "system.pickFolder": Number.POSITIVE_INFINITY, // a person decides
};

/** How long a call may take, in milliseconds. */
export function timeoutOf(name: string): number {
  return (timeouts as Record<string, number | undefined>)[name] ?? 30 * seconds;
}
