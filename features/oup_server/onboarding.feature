@v1alpha1
Feature: Folders to work in

  @OUP-ONBOARD-001
  Scenario: Folders are looked at for one person alone
    Given a connection
    And a session
    Then onboarding/workspace_probe with {"path":"«workspace»"} is for one person alone

  @OUP-ONBOARD-002 @OUP-ONBOARD-003 @OUP-ONBOARD-007
  Scenario: A path is told of
    Given a connection
    And the server serves onboarding/workspace_probe
    Then each of these calls ends so:
      | rule            | call                       | params                             | ends                                                                                                                     |
      | OUP-ONBOARD-002 | onboarding/workspace_probe | {"path":"«workspace»/nowhere"}     | result {"requested_path":"«workspace»/nowhere","exists":false,"is_directory":false,"canonical_path":null}                |
      | OUP-ONBOARD-002 | onboarding/workspace_probe | {"path":"«workspace»"}             | result {"exists":true,"is_directory":true,"canonical_path":"«text»"}                                                     |
      | OUP-ONBOARD-002 | onboarding/workspace_probe | {"path":"  "}                      | error invalid_params kind workspace_probe_invalid_path data {"reason":"empty"}                                           |
      | OUP-ONBOARD-003 | onboarding/workspace_probe | {"path":"~/conform-«unique»"}      | result {"requested_path":"~/conform-«unique»","expanded_path":"«lacks ~/»","exists":false}                                |
      | OUP-ONBOARD-007 | onboarding/workspace_probe | {"path":"/etc/conform-«unique»"}   | result {"root_escape":true,"banned_root":"/etc"}                                                                         |
      | OUP-ONBOARD-007 | onboarding/workspace_probe | {"path":"/etc"}                    | result {"root_escape":true,"banned_root":"/etc"}                                                                         |

  @OUP-ONBOARD-004 @OUP-ONBOARD-005 @OUP-ONBOARD-007
  Scenario: Folders are listed
    Given a server of its own
    And a connection
    And the server serves onboarding/workspace_list
    And a folder for the run
    Then each of these calls ends so:
      | rule            | call                      | params                   | ends                                                                                                               |
      | OUP-ONBOARD-004 | onboarding/workspace_list | {"path":"«folder»"}      | result {"entries":[{"name":"Alpha"},{"name":"beta"},{"name":"Gamma"}],"truncated":false,"hidden_skipped":1}        |
      | OUP-ONBOARD-004 | onboarding/workspace_list | {"path":"«full folder»"} | result {"entries":["«none»",{"name":"folder-0500"}],"truncated":true,"hidden_skipped":0}                           |
      | OUP-ONBOARD-005 | onboarding/workspace_list | {"path":"«folder»"}      | result {"parent_path":"«text»"}                                                                                    |
      | OUP-ONBOARD-005 | onboarding/workspace_list | {"path":"/"}             | result {"parent_path":null}                                                                                        |
      | OUP-ONBOARD-007 | onboarding/workspace_list | {"path":"/etc"}          | error invalid_params kind workspace_list_root_escape                                                               |

  @OUP-ONBOARD-006 @OUP-ONBOARD-008
  Scenario: Folders are made
    Given a server of its own
    And a connection
    And the server serves onboarding/workspace_create
    And a folder for the run
    Then each of these calls ends so:
      | rule            | call                        | params                                    | ends                                                        |
      | OUP-ONBOARD-006 | onboarding/workspace_create | {"parent":"«folder»","name":"delta"}      | result {"created":true}                                     |
      | OUP-ONBOARD-006 | onboarding/workspace_create | {"parent":"«folder»","name":"delta"}      | result {"created":false}                                    |
      | OUP-ONBOARD-008 | onboarding/workspace_create | {"parent":"«folder»","name":"../outside"} | error invalid_params kind workspace_create_invalid_name     |
      | OUP-ONBOARD-008 | onboarding/workspace_create | {"parent":"«folder»","name":".."}         | error invalid_params kind workspace_create_invalid_name     |
