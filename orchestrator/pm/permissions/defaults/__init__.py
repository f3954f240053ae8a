"""The default rules, as tables. The programs that have a table are judged by the modules beside this folder."""
