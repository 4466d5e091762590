for job in saw plane glue; do echo "$job" > "/jobs/$job"; done
touch /jobs/.filled
exec sleep 2147483647
