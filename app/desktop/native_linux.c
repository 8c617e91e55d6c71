//go:build desktop

#include <gtk/gtk.h>
#include <signal.h>
#include <string.h>
#include <webkit2/webkit2.h>

#include "_cgo_export.h"
#include "native_linux.h"

int carrel_prefers_dark(void) {
	if (!gtk_init_check(NULL, NULL)) return 1; /* Wails says what is wrong */
	GtkSettings *settings = gtk_settings_get_default();
	if (settings == NULL) return 1;
	gboolean dark = FALSE;
	gchar *theme = NULL;
	g_object_get(settings, "gtk-application-prefer-dark-theme", &dark, "gtk-theme-name", &theme, NULL);
	if (theme != NULL && (g_str_has_suffix(theme, "-dark") || g_str_has_suffix(theme, "-Dark") || g_str_has_suffix(theme, ":dark")))
		dark = TRUE;
	g_free(theme);
	return dark;
}

void carrel_fix_signals(void) {
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct sigaction now;
		if (sigaction(faults[i], NULL, &now) < 0 || (now.sa_flags & SA_ONSTACK)) continue;
		if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) continue;
		now.sa_flags |= SA_ONSTACK;
		sigaction(faults[i], &now, NULL);
	}
}

struct watch {
	uintptr_t window;
	int known, x, y;
};

static gboolean decide(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type, gpointer window) {
	if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return FALSE;
	WebKitNavigationAction *action =
		webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
	const gchar *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
	gboolean chosen = webkit_navigation_action_is_user_gesture(action);
	/* A window of its own is never made: the address opens elsewhere, or not at all. */
	if (carrelMayShow((uintptr_t)window, (char *)uri, chosen) && type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION) return FALSE;
	webkit_policy_decision_ignore(decision);
	return TRUE;
}

static void crashed(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer window) {
	carrelViewCrashed((uintptr_t)window);
}

static gboolean configured(GtkWidget *widget, GdkEvent *event, gpointer window) {
	gint x, y, width, height;
	gtk_window_get_position(GTK_WINDOW(widget), &x, &y);
	gtk_window_get_size(GTK_WINDOW(widget), &width, &height);
	carrelMoved((uintptr_t)window, x, y, width, height, gtk_window_is_maximized(GTK_WINDOW(widget)));
	return FALSE;
}

static void titled(GObject *view, GParamSpec *spec, gpointer top) {
	const gchar *title = webkit_web_view_get_title(WEBKIT_WEB_VIEW(view));
	if (title != NULL && *title != 0) gtk_window_set_title(GTK_WINDOW(top), title);
}

static void find(GtkWidget *widget, gpointer found) {
	if (WEBKIT_IS_WEB_VIEW(widget)) *(GtkWidget **)found = widget;
	else if (GTK_IS_CONTAINER(widget)) gtk_container_forall(GTK_CONTAINER(widget), find, found);
}

static gboolean watch(gpointer data) {
	struct watch *w = data;
	GtkWidget *view = NULL;
	GList *tops = gtk_window_list_toplevels();
	for (GList *i = tops; i != NULL; i = i->next) find(GTK_WIDGET(i->data), &view);
	g_list_free(tops);
	if (view != NULL) {
		GtkWidget *top = gtk_widget_get_toplevel(view);
		gpointer window = (gpointer)w->window;
		g_signal_connect(view, "decide-policy", G_CALLBACK(decide), window);
		g_signal_connect(view, "web-process-terminated", G_CALLBACK(crashed), window);
		g_signal_connect(view, "notify::title", G_CALLBACK(titled), top);
		if (w->known) gtk_window_move(GTK_WINDOW(top), w->x, w->y);
		g_signal_connect(top, "configure-event", G_CALLBACK(configured), window);
	}
	g_free(w);
	return G_SOURCE_REMOVE;
}

void carrel_watch(uintptr_t window, int known, int x, int y) {
	struct watch *w = g_new(struct watch, 1);
	*w = (struct watch){window, known, x, y};
	/* Later than what Wails has queued, which puts the window in the middle of the screen. */
	g_idle_add_full(G_PRIORITY_LOW, watch, w, NULL);
}
